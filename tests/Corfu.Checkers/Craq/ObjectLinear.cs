namespace Corfu.Checkers;

/// <summary>
/// Every object is linearizable: writes, compares, increments, strong reads and refusals. Writes of a chain take effect
/// in the order of their versions, across its objects too.
/// </summary>
public static class ObjectLinear
{
    /// <summary>States that the search of one object visits before it gives up, which counts as a finding.</summary>
    public const int MostStates = 200_000;

    public static List<Violation> Check(ObjectHistory history)
    {
        List<Violation> found = [];
        WritesInOrder(history, found);
        OneContent(history, found);
        foreach (var ((chain, key), steps) in ObjectSteps.Of(history.Calls))
        {
            if (new ObjectSearch(steps).Run() is { } why)
                found.Add(new Violation(CheckerNames.ObjectLinear, $"{chain}/{key}: {why}"));
        }

        return found;
    }

    /// <summary>A write that ended before another began has the lower version.</summary>
    private static void WritesInOrder(ObjectHistory history, List<Violation> found)
    {
        foreach (var chain in history.Calls.Where(call => call is { Fate: ObjectFate.Done, Version: > 0, Writes: true })
            .GroupBy(call => call.Chain, StringComparer.Ordinal))
        {
            ObjectCall[] order = [.. chain.OrderBy(call => call.Version)];
            for (var i = 1; i < order.Length; i++)
            {
                if (order[i].Version == order[i - 1].Version)
                    found.Add(new(CheckerNames.ObjectLinear,
                        $"one version, two writes: {order[i - 1]} and {order[i]}"));
            }

            if (RealTime(order, static call => call.Start, static call => call.End) is var (early, late))
                found.Add(new(CheckerNames.ObjectLinear,
                    $"{late} ended before {early} began, and has the higher version"));
        }
    }

    /// <summary>A version shows one content for ever, whatever the mode of the read; or nothing, where objects of that
    /// key expire.</summary>
    private static void OneContent(ObjectHistory history, List<Violation> found)
    {
        Dictionary<(string Chain, string Key, long Version), (string? Value, ObjectCall Call)> contents = [];
        var expiring = Expiring(history);
        foreach (var call in history.Calls)
        {
            foreach (var seen in call.Seen.Where(seen => seen.Version > 0))
            {
                if (seen.Value is null && expiring.Contains((call.Chain, seen.Key))) continue;
                if (!contents.TryAdd((call.Chain, seen.Key, seen.Version), (seen.Value, call))
                    && contents[(call.Chain, seen.Key, seen.Version)] is var first && first.Value != seen.Value)
                    found.Add(new(CheckerNames.ObjectLinear, $"one version, two contents: {first.Call} and {call}"));
            }
        }
    }

    /// <summary>Objects that were given an expiry at some time.</summary>
    internal static HashSet<(string Chain, string Key)> Expiring(ObjectHistory history) =>
    [
        .. from call in history.Calls
           from act in call.Acts
           where act.Expiry > 0
           select (call.Chain, act.Key),
    ];

    /// <summary>The first place where a list contradicts the clock: an element that began when one further behind had
    /// ended.</summary>
    internal static (T Early, T Late)? RealTime<T>(IReadOnlyList<T> order, Func<T, long> start, Func<T, long> end)
        where T : class
    {
        T? ended = null;
        (T, T)? found = null;
        for (var i = order.Count - 1; i >= 0; i--)
        {
            if (ended is not null && end(ended) < start(order[i])) found = (order[i], ended);
            if (ended is null || end(order[i]) < end(ended)) ended = order[i];
        }

        return found;
    }
}
