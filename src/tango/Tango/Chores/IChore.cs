namespace Tango.Chores;

/// <summary>Work that a runtime does by itself from time to time.</summary>
internal interface IChore
{
    /// <summary>Does what is due, and sees to its own failures. <see cref="ChoreLoop"/> alone calls it, one call at a
    /// time.</summary>
    /// <returns>Time until the chore is due again; null: it rests until it is scheduled.</returns>
    Task<TimeSpan?> RunAsync();
}
