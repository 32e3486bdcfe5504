using Corfu.FaultRuns.Objects.Clients;

namespace Corfu.FaultRuns.Objects.Judging;

/// <summary>The histories of all clients, and what a fresh client read at the end.</summary>
public sealed class StoreHistory
{
    public List<ObjectCall> Calls { get; } = [];

    public List<StoreTransaction> Transactions { get; } = [];

    /// <summary>Strong reads after everything had healed and all clients had ended.</summary>
    public List<ObjectCall> Final { get; } = [];

    public List<string> Unexpected { get; } = [];

    /// <summary>Writes that were acknowledged.</summary>
    public int Writes => Calls.Count(call => call is { Writes: true, Fate: ObjectFate.Done })
        + Transactions.Count(one => one.Fate == TxFate.Committed && one.Parts.Any(part => part.Writes));

    /// <summary>Reads that were answered, the final ones too.</summary>
    public int Reads => Calls.Concat(Final).Count(call => call is { Writes: false, Fate: ObjectFate.Done })
        + Transactions.Count(one => one.Fate == TxFate.Committed && !one.Parts.Any(part => part.Writes));

    /// <summary>Each part of a transaction is a call of its chain.</summary>
    public IEnumerable<ObjectCall> AllCalls =>
        Calls.Concat(Transactions.SelectMany(PartsOf)).Concat(Final);

    public void Load(IEnumerable<string> histories, string? final)
    {
        foreach (var file in histories) Load(file, Calls);
        if (final is not null) Load(final, Final);
    }

    /// <summary>The newest answer of the final reads for each object; objects that could not be read are
    /// missing.</summary>
    public Dictionary<(string Chain, string Key), ObjectSeen> FinalObjects()
    {
        Dictionary<(string Chain, string Key), ObjectSeen> objects = [];
        foreach (var call in Final.Where(call => call.Fate == ObjectFate.Done))
        {
            foreach (var seen in call.Seen) objects[(call.Chain, seen.Key)] = seen;
        }

        return objects;
    }

    /// <summary>Every object that a client wrote, or tried to write.</summary>
    public IEnumerable<(string Chain, string Key)> Written() => Calls.Concat(Transactions.SelectMany(one => one.Parts))
        .SelectMany(call => call.Acts.Select(act => (call.Chain, act.Key))).Distinct();

    private static IEnumerable<ObjectCall> PartsOf(StoreTransaction transaction) =>
        transaction.Parts.Select(part => part with
        {
            Start = transaction.Start,
            From = transaction.Start,
            End = transaction.End,
            Until = transaction.End,
        });

    // The last line of a call is its outcome.
    private void Load(string file, List<ObjectCall> calls)
    {
        Dictionary<string, ObjectCall> own = [];
        Dictionary<string, StoreTransaction> transactions = [];
        foreach (var line in CallLog.Read(file))
        {
            if (line.Call is { } call) own[call.Id] = call;
            if (line.Transaction is { } transaction) transactions[transaction.Id] = transaction;
            if (line.Unexpected is { } text) Unexpected.Add($"{Path.GetFileNameWithoutExtension(file)}: {text}");
        }

        calls.AddRange(own.Values);
        Transactions.AddRange(transactions.Values);
    }
}
