using System.Globalization;
using Corfu.FaultRuns.Objects.Clients;

namespace Corfu.FaultRuns.Objects.Judging;

/// <summary>Transactions and mutations of several objects that are seen in part, or in an order that nothing
/// explains.</summary>
public static class TornJudge
{
    public static List<string> Judge(StoreHistory history)
    {
        List<string> found = [];
        Pairs(history, found);
        Sums(history, found);
        Tokens(history, found);
        found.AddRange(TransactCheck.Check(Serial(history)).Select(violation => $"{violation}"));
        return found;
    }

    /// <summary>Two objects that are always put together are equal in every snapshot and at the end.</summary>
    private static void Pairs(StoreHistory history, List<string> found)
    {
        foreach (var call in history.Calls.Where(call => call.Mode == ObjectMode.Mutate).Concat(history.Final)
            .Where(call => call.Fate == ObjectFate.Done))
        {
            ObjectSeen[] pair = [.. call.Seen.Where(seen => StoreKeys.Pair.Contains(seen.Key))];
            if (pair.Length == 2 && pair[0].Value != pair[1].Value)
                found.Add($"one mutation is seen in part: {call}");
        }
    }

    /// <summary>The sum of a group's accounts is the same in every snapshot and at the end.</summary>
    private static void Sums(StoreHistory history, List<string> found)
    {
        foreach (var snapshot in Snapshots(history))
            Sum([.. snapshot.Parts.SelectMany(part => part.Seen)], $"{snapshot}", found);
        for (var group = 0; group < StoreKeys.Groups; group++)
        {
            var final = history.FinalObjects();
            Sum([.. ChainsOf(group).Select(chain => final.GetValueOrDefault((chain, StoreKeys.Account)))
                .OfType<ObjectSeen>()], $"the accounts of group {group} at the end", found);
        }
    }

    private static void Sum(IReadOnlyList<ObjectSeen> seen, string what, List<string> found)
    {
        ObjectSeen[] accounts = [.. seen.Where(one => one.Key == StoreKeys.Account)];
        if (accounts.Length < StoreKeys.GroupSize) return;
        var sum = accounts.Sum(one => long.Parse(one.Value ?? "0", CultureInfo.InvariantCulture));
        if (sum != StoreKeys.Deposit * StoreKeys.GroupSize)
            found.Add($"a transfer is seen in part: the sum is {sum}, in {what}");
    }

    /// <summary>A token is in the lists of both chains or in none; in both if its transaction is committed, in none if
    /// that was aborted.</summary>
    private static void Tokens(StoreHistory history, List<string> found)
    {
        var final = history.FinalObjects();
        foreach (var transaction in history.Transactions)
        {
            var appends = transaction.Parts.SelectMany(part => part.Acts
                .Where(act => act.Kind == ObjectActKind.Append && StoreKeys.IsTokens(act.Key))
                .Select(act => Has(final.GetValueOrDefault((part.Chain, act.Key)), act.Value))).ToList();
            if (appends.Distinct().Count() > 1)
                found.Add($"{transaction} is carried out in part");
            else if (appends.Count > 0 && transaction.Fate == TxFate.Aborted && appends[0])
                found.Add($"{transaction} is carried out all the same");
            else if (appends.Count > 0 && transaction.Fate == TxFate.Committed && !appends[0])
                found.Add($"{transaction} is not carried out");
        }

        foreach (var snapshot in Snapshots(history)) Tokens(snapshot, found);
    }

    // A snapshot shows the same tokens in both chains.
    private static void Tokens(StoreTransaction snapshot, List<string> found)
    {
        var lists = snapshot.Parts.SelectMany(part => part.Seen).Where(seen => StoreKeys.IsTokens(seen.Key)).ToList();
        if (lists.Count < StoreKeys.GroupSize) return;
        var items = lists.Select(list => StoreKeys.Items(list.Value ?? "").ToHashSet()).ToList();
        foreach (var other in items.Skip(1))
        {
            if (!other.SetEquals(items[0]))
                found.Add($"{string.Join(", ", other.Except(items[0]).Concat(items[0].Except(other)).Take(3))} is seen "
                    + $"in part, in {snapshot}");
        }
    }

    private static IEnumerable<StoreTransaction> Snapshots(StoreHistory history) => history.Transactions.Where(
        one => one.Fate == TxFate.Committed && !one.Parts.Any(part => part.Writes));

    /// <summary>Transactions with what they read and wrote, beside all writes of single chains.</summary>
    private static ObjectHistory Serial(StoreHistory history)
    {
        var serial = new ObjectHistory();
        serial.Calls.AddRange(history.Calls);
        // An absent register may have been deleted, at any time.
        serial.Transactions.AddRange(history.Transactions.Select(one => new ObjectTransaction(
            one.Id, one.Start, one.End, one.Fate,
            [.. one.Parts.SelectMany(part => part.Seen.Where(seen => seen.Version > 0)
                .Select(seen => (TransactCheck.Item(part.Chain, seen.Key), seen.Version)))],
            [.. one.Parts.SelectMany(part => part.Acts.Select(act => TransactCheck.Item(part.Chain, act.Key)).Distinct()
                .Select(item => (item, part.Version)))])));
        return serial;
    }

    private static bool Has(ObjectSeen? list, string item) =>
        list?.Value is { } value && StoreKeys.Items(value).Contains(StoreKeys.Items(item).First());

    private static IEnumerable<string> ChainsOf(int group) =>
        Enumerable.Range(group * StoreKeys.GroupSize, StoreKeys.GroupSize).Select(StoreKeys.Chain);
}
