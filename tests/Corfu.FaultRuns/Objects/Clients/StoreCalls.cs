using System.Collections.Immutable;
using Corfu.Client;
using Craq;
using WriteOutcome = Craq.WriteOutcome;

namespace Corfu.FaultRuns.Objects.Clients;

/// <summary>The promise that a read asks for, as the client and the checkers say it.</summary>
internal sealed record ReadPromise(ObjectMode Mode, ReadTerms Terms)
{
    public static ReadPromise Strong { get; } = new(ObjectMode.Strong, ReadTerms.Strong);

    public static ReadPromise Eventual { get; } = new(ObjectMode.Eventual, ReadTerms.Eventual);

    public StoreSession? Session { get; private init; }

    public int MaxAhead { get; private init; }

    /// <summary>In ticks of the history's clock; 0: any.</summary>
    public long MaxAge { get; private init; }

    public static ReadPromise In(StoreSession session) =>
        new(ObjectMode.Session, ReadTerms.Session(session.Session)) { Session = session };

    public static ReadPromise Bounded(int ahead, TimeSpan age) => new(ObjectMode.Bounded, ReadTerms.Bounded(ahead, age))
    {
        MaxAhead = ahead,
        MaxAge = (long)(age.TotalSeconds * System.Diagnostics.Stopwatch.Frequency),
    };
}

/// <summary>A session with the name that the history has for it.</summary>
internal sealed record StoreSession(string Name, CraqSession Session);

/// <summary>Makes calls through the client, and records each with its times and its outcome.</summary>
internal sealed class StoreCalls(CraqClient client, CallLog log, string name)
{
    private int _number;
    private long _writes;
    private long _reads;
    private long _unknown;
    private long _refused;

    /// <summary>Writes that were acknowledged, reads that were answered, calls of unknown outcome, and calls that were
    /// certainly not carried out.</summary>
    public (long Writes, long Reads, long Unknown, long Refused) Counts => (Interlocked.Read(ref _writes),
        Interlocked.Read(ref _reads), Interlocked.Read(ref _unknown), Interlocked.Read(ref _refused));

    public string NextId() => $"{name}-{Interlocked.Increment(ref _number)}";

    public async Task<ObjectCall> ReadAsync(string chain, IReadOnlyList<string> keys, ReadPromise promise)
    {
        var call = new ObjectCall(NextId(), chain, promise.Mode, CallLog.Now, ObjectHistory.Never, ObjectFate.Refused)
        {
            Session = promise.Session?.Name,
            MaxAhead = promise.MaxAhead,
            MaxAge = promise.MaxAge,
        };
        try
        {
            var found = await client.Chain(chain).GetManyAsync([.. keys.Select(key => (ObjectKey)key)], promise.Terms);
            call = call with { Fate = ObjectFate.Done, Seen = SeenOf(keys, found) };
            if (promise.Session is { } session) call = call with { Mark = MarkOf(session, chain) };
        }
        catch (Exception e)
        {
            Failed(e);
        }

        return Ended(call);
    }

    /// <param name="work">Tests and acts.</param>
    /// <param name="keys">Objects that are read before the acts.</param>
    public async Task<ObjectCall> MutateAsync(ObjectCall work, IReadOnlyList<string> keys, StoreSession? session = null)
    {
        var call = work with { Start = CallLog.Now, Session = session?.Name };
        if (call.Writes) log.Add(new CallLine(call with { From = call.Start, Until = ObjectHistory.Never }));
        try
        {
            var chain = session is null ? client.Chain(call.Chain) : client.Chain(call.Chain).In(session.Session);
            var result = await chain.MutateAsync(Build(new MutateBuilder(), call, keys));
            call = result.Outcome switch
            {
                WriteOutcome.Written => call with
                {
                    Fate = ObjectFate.Done,
                    Version = call.Writes ? result.Version.Value : 0,
                    Seen = SeenOf(keys, result.Reads),
                    Acts = WithSums(call.Acts, result.Sums),
                },
                WriteOutcome.Mismatch => call with
                {
                    Fate = ObjectFate.Mismatch,
                    Failed = result.MismatchIndex,
                    FailedVersion = result.Version.Value,
                },
                _ => call,
            };
            if (session is not null) call = call with { Mark = MarkOf(session, call.Chain) };
        }
        catch (CraqUnavailableException)
        {
            call = call with { Fate = ObjectFate.Refused };
        }
        catch (Exception e)
        {
            Failed(e);
        }

        return Ended(call);
    }

    /// <param name="parts">Tests and acts for each chain, with the keys that are read.</param>
    public async Task<StoreTransaction> TransactAsync(
        IReadOnlyList<(ObjectCall Work, IReadOnlyList<string> Keys)> parts)
    {
        var call = new StoreTransaction(NextId(), CallLog.Now, ObjectHistory.Never, TxFate.InDoubt,
            [.. parts.Select(part => part.Work)]);
        log.Add(new CallLine(Transaction: call));
        try
        {
            var transaction = new CraqTransaction();
            foreach (var (work, keys) in parts) Build(transaction.On(client.Chain(work.Chain)), work, keys);
            var result = await client.TransactAsync(transaction);
            call = result.Outcome switch
            {
                CraqTransactionOutcome.Committed => call with
                {
                    Fate = TxFate.Committed,
                    Parts = [.. parts.Select(part => Committed(part.Work, part.Keys, result))],
                },
                CraqTransactionOutcome.Aborted => call with
                {
                    Fate = TxFate.Aborted,
                    Parts = [.. parts.Select(part => Aborted(part.Work, result))],
                },
                _ => call,
            };
        }
        catch (CraqUnavailableException)
        {
            call = call with { Fate = TxFate.Aborted, Parts = [.. call.Parts.Select(Refused)] };
        }
        catch (Exception e)
        {
            Failed(e);
        }

        if (call.Fate != TxFate.InDoubt) call = call with { End = CallLog.Now };
        log.Add(new CallLine(Transaction: call));
        Count(call.Fate switch
        {
            TxFate.Committed => ObjectFate.Done,
            TxFate.InDoubt => ObjectFate.Unknown,
            _ => ObjectFate.Refused,
        }, call.Parts.Any(part => part.Writes));
        return call;
    }

    private ObjectCall Committed(ObjectCall work, IReadOnlyList<string> keys, CraqTransactionResult result)
    {
        var chain = client.Chain(work.Chain);
        return work with
        {
            Fate = ObjectFate.Done,
            Version = work.Writes ? result.VersionOf(chain).Value : 0,
            Seen = SeenOf(keys, result.Reads(chain)),
            Acts = WithSums(work.Acts, result.Sums(chain)),
        };
    }

    private ObjectCall Aborted(ObjectCall work, CraqTransactionResult result) =>
        result.Refusal == CraqTransactionRefusal.Mismatch && client.Chain(work.Chain).Id == result.RefusedBy
            ? work with
            {
                Fate = ObjectFate.Mismatch,
                Failed = result.MismatchIndex,
                FailedVersion = result.MismatchVersion.Value,
            }
            : Refused(work);

    private static ObjectCall Refused(ObjectCall work) => work with { Fate = ObjectFate.Refused };

    private ObjectCall Ended(ObjectCall call)
    {
        var now = CallLog.Now;
        var isUnknown = call.Fate == ObjectFate.Unknown;
        call = call with { End = isUnknown ? ObjectHistory.Never : now, From = call.Start, Until = now };
        log.Add(new CallLine(call));
        Count(call.Fate, call.Writes);
        return call;
    }

    private void Count(ObjectFate fate, bool writes)
    {
        switch (fate)
        {
            case ObjectFate.Unknown:
                Interlocked.Increment(ref _unknown);
                break;
            case ObjectFate.Refused:
                Interlocked.Increment(ref _refused);
                break;
            case ObjectFate.Done when writes:
                Interlocked.Increment(ref _writes);
                break;
            case ObjectFate.Done:
                Interlocked.Increment(ref _reads);
                break;
        }
    }

    // The outcome of a write stays unknown. Reads that no replica answered in time are expected.
    private void Failed(Exception e)
    {
        if (e is not CraqUnavailableException)
            log.Add(new CallLine(Unexpected: e.ToString().ReplaceLineEndings(" ")));
    }

    private static long MarkOf(StoreSession session, string chain) =>
        session.Session.MarkOf(ChainId.FromName(chain)).Value;

    private static MutateBuilder Build(MutateBuilder builder, ObjectCall work, IReadOnlyList<string> keys)
    {
        foreach (var test in work.Tests)
        {
            _ = test.Kind switch
            {
                ObjectTestKind.Version => builder.IfVersion(test.Key, new ObjectVersion(test.Version)),
                ObjectTestKind.Exists => builder.IfExists(test.Key),
                ObjectTestKind.Absent => builder.IfAbsent(test.Key),
                _ => builder.IfValue(test.Key, ValueText.Encode(test.Value)),
            };
        }

        foreach (var key in keys) builder.Read(key);
        foreach (var act in work.Acts)
        {
            _ = act.Kind switch
            {
                ObjectActKind.Put => builder.Put(act.Key, ValueText.Encode(act.Value)),
                ObjectActKind.Delete => builder.Delete(act.Key),
                ObjectActKind.Append => builder.Append(act.Key, ValueText.Encode(act.Value)),
                ObjectActKind.Add => builder.Add(act.Key, act.Delta),
                _ => throw new NotSupportedException($"{act}"),
            };
        }

        return builder;
    }

    private static ObjectSeen[] SeenOf(IReadOnlyList<string> keys, ImmutableArray<StoredObject> found) =>
    [
        .. keys.Select((key, i) => new ObjectSeen(key, found[i].Version.Value,
            found[i].IsFound ? ValueText.Decode(found[i].Value.Span) : null, found[i].IsDirty)),
    ];

    private static ObjectAct[] WithSums(IReadOnlyList<ObjectAct> acts, ImmutableArray<ulong> sums)
    {
        var next = 0;
        return [.. acts.Select(act => act.Kind == ObjectActKind.Add ? act with { Sum = sums[next++] } : act)];
    }
}
