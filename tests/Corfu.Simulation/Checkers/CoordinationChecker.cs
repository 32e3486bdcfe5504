using System.Globalization;
using Tango;
using Tango.Collections;

namespace Corfu.Simulation.Checkers;

/// <summary>
/// Checkers of locks, leases and work queues, over all that the log has in the end: <c>lock</c>, <c>silence</c>,
/// <c>work</c> and <c>phantom</c>. Each plays a model of its own beside the objects.
/// </summary>
public sealed class CoordinationChecker(CoordinationHistory history)
{
    // Writers' clocks are rounded down to it.
    private const long Rounding = 1;

    private readonly List<Violation> _found = [];

    public static IReadOnlyList<Violation> CheckAll(CoordinationHistory history)
    {
        var checker = new CoordinationChecker(history);
        if (!history.IsComplete) return [];
        checker.CheckTokens();
        checker.CheckGuarded();
        checker.CheckWork();
        checker.CheckSlots();
        return checker._found;
    }

    /// <summary>No token has two holders.</summary>
    private void CheckTokens()
    {
        foreach (var same in history.Acquired.GroupBy(held => held.Token).Where(same => same.Count() > 1))
            Found(CheckerNames.Lock,
                $"token {same.Key} was given to clients {string.Join(", ", same.Select(held => held.Client))}");
    }

    /// <summary>Each guarded write is one of the lock's holder at its place in the log. An expiry follows
    /// silence.</summary>
    private void CheckGuarded()
    {
        var model = new LockModel();
        var changes = new Queue<TangoChange<TangoLock>>(history.LockChanges);
        long newest = 0;
        HashSet<string> written = [];
        foreach (TangoChange<TangoRegister<string>> write in history.GuardedChanges)
        {
            string value = write.ReadArgument<string>();
            long token = TokenOf(value);
            LogPosition at = write.Place.Position;
            while (changes.TryPeek(out var before) && before.Place.Position < at) Apply(model, changes.Dequeue());
            // The order of two objects' calls within one entry is not told.
            HashSet<long?> holders = [model.Holder];
            while (changes.TryPeek(out var within) && within.Place.Position == at)
            {
                Apply(model, changes.Dequeue());
                holders.Add(model.Holder);
            }

            if (!holders.Contains(token))
                Found(CheckerNames.Lock, $"'{value}' is written at {at}, where {Show(holders)} has the lock");
            if (token < newest) Found(CheckerNames.Lock, $"'{value}' is written at {at}, behind token {newest}");
            newest = Math.Max(newest, token);
            if (!written.Add(value)) Found(CheckerNames.Lock, $"'{value}' is written twice, at {at} too");
        }

        while (changes.TryDequeue(out var rest)) Apply(model, rest);
        foreach (string told in history.Written.Except(written))
            Found(CheckerNames.Lock, $"'{told}' was acknowledged and is not in the log");
    }

    private void Apply(LockModel model, TangoChange<TangoLock> change)
    {
        if (model.Apply(change) is not { } expired) return;
        long made = history.MadeAt[change.Place.Position];
        RequireSilence($"ticket {expired.Ticket}", made, expired.Milliseconds, expired.Seen);
        foreach ((long token, long at) in history.Held)
        {
            if (token == expired.Ticket && at > made + Rounding)
                Found(CheckerNames.Silence, $"ticket {token} is expired at {made} ms, and its owner has it at {at} ms");
        }
    }

    private void RequireSilence(string what, long made, long milliseconds, LogPosition seen)
    {
        long silent = made - history.MadeAt[seen];
        if (silent + Rounding < milliseconds)
            Found(CheckerNames.Silence,
                $"{what}, of {milliseconds} ms, is expired {silent} ms after the sign of life at {seen}");
    }

    /// <summary>Each item that was added is done once, by its delivery, or is dead.</summary>
    private void CheckWork()
    {
        var model = new WorkModel();
        Dictionary<LogPosition, List<long>> doneAt = [];
        foreach (TangoChange<TangoWorkQueue<string>> change in history.QueueChanges)
        {
            LogPosition at = change.Place.Position;
            if (model.Apply(change) is { } wrong) Found(CheckerNames.Work, $"accepted at {at}: {wrong}");
            if (model.Expired is var (what, milliseconds, seen))
                RequireSilence(what, history.MadeAt[at], milliseconds, seen);
            if (change.Mutator!.Name != "Finish") continue;
            if (!doneAt.TryGetValue(at, out List<long>? items)) doneAt[at] = items = [];
            items.Add(change.ReadKey<long>());
        }

        HashSet<string> done = [];
        foreach (TangoChange<TangoList<string>> change in history.DoneChanges)
        {
            string value = change.ReadArgument<string>();
            if (!done.Add(value)) Found(CheckerNames.Work, $"'{value}' is done twice");
            if (!doneAt.GetValueOrDefault(change.Place.Position, []).Any(item => model.Items[(int)item - 1] == value))
                Found(CheckerNames.Work, $"'{value}' is done at {change.Place} and not completed there");
        }

        foreach (string told in history.ToldDone.Except(done))
            Found(CheckerNames.Work, $"'{told}' was acknowledged as done and is not");
        HashSet<string> dead = [.. model.Dead.Select(item => model.Items[(int)item - 1])];
        if (!dead.SetEquals(history.Dead)) Found(CheckerNames.Work, $"dead are {Show(history.Dead)}, not {Show(dead)}");
        if (model.Left > 0) Found(CheckerNames.Work, $"{model.Left} items are left in a queue that is drained");
        HashSet<string> ended = [.. model.Done.Union(model.Dead).Select(item => model.Items[(int)item - 1])];
        foreach (string lost in history.Added.Except(ended))
            Found(CheckerNames.Work, $"'{lost}' was added and is neither done nor dead");
    }

    /// <summary>Each slot was numbered by a scan that saw all slots before it.</summary>
    private void CheckSlots()
    {
        int next = 0;
        foreach (TangoChange<TangoSortedDictionary<string, string>> change in history.SlotChanges)
        {
            string slot = change.ReadKey<string>();
            int number = int.Parse(slot.AsSpan(2, 5), CultureInfo.InvariantCulture);
            if (number != next)
                Found(CheckerNames.Phantom, $"'{slot}' at {change.Place} follows {next} slots: its scan missed some");
            next++;
        }
    }

    private static long TokenOf(string value) =>
        long.Parse(value.AsSpan(0, value.IndexOf(':', StringComparison.Ordinal)), CultureInfo.InvariantCulture);

    private static string Show<T>(IEnumerable<T> values) => string.Join(" or ", values);

    private void Found(string checker, string what) => _found.Add(new Violation(checker, what));
}
