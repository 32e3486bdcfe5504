using StepsByObject = System.Collections.Generic.SortedDictionary<(string Chain, string Key),
    System.Collections.Generic.List<Corfu.Checkers.ObjectStep>>;

namespace Corfu.Checkers;

/// <summary>Takes the calls of a history apart, by chain and object.</summary>
internal static class ObjectSteps
{
    /// <summary>All steps of strong calls, by object. Refused calls and reads without an answer say nothing.</summary>
    public static StepsByObject Of(IEnumerable<ObjectCall> calls)
    {
        var steps = new StepsByObject(Order);
        List<ObjectCall> clears = [];
        foreach (var call in calls)
        {
            if (call.Mode is not (ObjectMode.Mutate or ObjectMode.Strong) || call.Fate == ObjectFate.Refused) continue;
            if (call.Fate == ObjectFate.Unknown && !call.Writes) continue;
            if (call.Acts.Any(act => act.Kind == ObjectActKind.Clear)) clears.Add(call);
            else Add(call, steps);
        }

        // Every object of the chain is one of a Clear.
        foreach (var clear in clears.Where(clear => clear.Fate != ObjectFate.Mismatch))
        {
            foreach (var ((chain, key), list) in steps)
            {
                if (chain != clear.Chain) continue;
                list.Add(new ObjectStep
                {
                    Call = clear,
                    Acts = [.. clear.Acts],
                    Seen = [.. clear.Seen.Where(seen => seen.Key == key)],
                    Tests = [.. clear.Tests.Where(test => test.Key == key)],
                });
            }
        }

        return steps;
    }

    private static Comparer<(string Chain, string Key)> Order { get; } =
        Comparer<(string Chain, string Key)>.Create(static (a, b) =>
            string.CompareOrdinal(a.Chain, b.Chain) is not 0 and var order
                ? order
                : string.CompareOrdinal(a.Key, b.Key));

    private static void Add(ObjectCall call, StepsByObject steps)
    {
        if (call.Fate == ObjectFate.Mismatch)
        {
            AddRefusal(call, steps);
            return;
        }

        HashSet<string> keys =
        [
            .. call.Tests.Select(test => test.Key), .. call.Seen.Select(seen => seen.Key),
            .. call.Acts.Select(act => act.Key),
        ];
        foreach (var key in keys)
        {
            ListOf(call.Chain, key, steps).Add(new ObjectStep
            {
                Call = call,
                Tests = [.. call.Tests.Where(test => test.Key == key)],
                Seen = [.. call.Seen.Where(seen => seen.Key == key)],
                Acts = [.. call.Acts.Where(act => act.Key == key)],
            });
        }
    }

    // A refusal tells of the object that did not fit, and of those whose tests came before.
    private static void AddRefusal(ObjectCall call, StepsByObject steps)
    {
        var failed = call.Failed < call.Tests.Count ? call.Tests[call.Failed] : null;
        var unfit = failed is null ? call.Acts[call.Failed - call.Tests.Count] : null;
        var key = failed?.Key ?? unfit!.Key;
        ListOf(call.Chain, key, steps).Add(new ObjectStep
        {
            Call = call,
            FailedTest = failed,
            FailedAct = unfit,
            Acts = unfit is null ? [] : [.. call.Acts.TakeWhile(act => act != unfit).Where(act => act.Key == key)],
        });
    }

    private static List<ObjectStep> ListOf(string chain, string key, StepsByObject steps)
    {
        if (!steps.TryGetValue((chain, key), out var list)) steps.Add((chain, key), list = []);
        return list;
    }
}
