namespace Tango;

/// <summary>Fate of an update that ended in doubt: see <see cref="TangoRuntime.ResolveUpdateAsync"/>.</summary>
/// <param name="Place">The update's place in the log, for <see cref="UpdateFate.Written"/>.</param>
public readonly record struct TangoUpdateFate(UpdateFate Fate, LogPlace? Place = null);

/// <summary>Whether an update is in the log.</summary>
public enum UpdateFate
{
    /// <summary>Not known, now.</summary>
    Unknown,

    /// <summary>The update is not in the log, and never will be.</summary>
    NotWritten,

    /// <summary>The update is in the log. Its object may have refused it.</summary>
    Written,
}
