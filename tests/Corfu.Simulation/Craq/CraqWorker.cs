using System.Collections.Immutable;
using System.Text;
using Corfu.Protocol;
using Corfu.Simulation.Kernel;
using Craq;
using Craq.Protocol;
using ObjectReadMode = Craq.ObjectReadMode;

namespace Corfu.Simulation.Craq;

/// <summary>A loop of a client: a session of its own, which reads and writes objects of all chains.</summary>
internal sealed partial class CraqWorker(
    CraqCluster cluster, CraqHistory history, SimCraqClient client, string session, SimRandom random)
{
    private const int MostAttempts = 12;

    private readonly SortedDictionary<ChainId, ObjectVersion> _marks = [];
    private readonly Queue<(string Chain, MutateRequest Request, ObjectVersion Version)> _done = new();
    private int _reads;

    public SimRandom Random => random;

    /// <summary>The wall clock of the client's machine, in milliseconds.</summary>
    public long Wall => client.Process!.Time.GetUtcNow().ToUnixTimeMilliseconds();

    public async Task<ObjectCall> ReadAsync(string chain, ObjectReadMode mode, params ImmutableArray<ObjectKey> keys)
    {
        var id = ChainId.FromName(chain);
        var token = mode == ObjectReadMode.Session ? MarkOf(id) : default;
        var (ahead, age) = mode == ObjectReadMode.Bounded
            ? (random.Pick([0, 1, 3]), random.Pick([0, 5, 50, 500]))
            : (0, 0);
        var number = history.Begin(new ObjectCall($"{session} read {++_reads}", chain, ModeOf(mode), 0,
            ObjectHistory.Never, ObjectFate.Unknown)
        {
            Session = session,
            MaxAhead = ahead,
            MaxAge = age * TimeSpan.TicksPerMillisecond,
        });
        for (var attempt = 0; attempt < MostAttempts; attempt++)
        {
            var view = await client.ViewOfAsync(id, random);
            var config = view.Config;
            var member = random.Next(config.Members.Length);
            if (client.Near is { } near && random.Chance(0.9) && config.IndexOf(near.Id) is >= 0 and var index)
                member = index;
            if (config.Options.Protocol == ChainProtocol.Cr && random.Chance(0.9)) member = config.Members.Length - 1;
            // A client may be told of a wrong node: a learner, or one that was removed.
            var to = random.Chance(0.05) ? random.Pick(cluster.Nodes).Address : view.Address(member);
            var answer = await client.CallAsync(to,
                new ReadObjectsRequest(config.Epoch, id, mode, keys, token, ahead, age));
            if (answer is { IsOk: true })
            {
                Knows(id, answer.Mark);
                return history.End(number, call => call with
                {
                    Fate = ObjectFate.Done,
                    Mark = answer.Mark.Value,
                    Seen = [.. answer.Objects.Where(IsKnown).Select((found, i) => SeenOf(keys[i], found))],
                });
            }

            await AgainAsync(id);
        }

        return history.End(number, static call => call with { Fate = ObjectFate.Refused });
    }

    public async Task<ObjectCall> MutateAsync(string chain, ImmutableArray<ObjectOperation> operations,
        ImmutableArray<ObjectCompare> compares = default, ImmutableArray<ObjectKey> reads = default)
    {
        var id = ChainId.FromName(chain);
        var write = client.NextId();
        var request = new MutateRequest(Epoch.None, id, write, MarkOf(id), false, compares.IsDefault ? [] : compares,
            reads.IsDefault ? [] : reads, operations);
        var number = history.Begin(new ObjectCall($"{write}", chain, ObjectMode.Mutate, 0, ObjectHistory.Never,
            ObjectFate.Unknown)
        {
            Session = session,
            Tests = [.. request.Compares.Select(TestOf)],
            Acts = [.. operations.Select(operation => ActOf(operation, null))],
        });
        // The transport delivers a request once, so that a refusal is its end. A run that duplicates requests may
        // deliver a copy when the head refuses no more.
        var isInDoubt = cluster.Plan.Network.Duplication > 0;
        for (var attempt = 0; attempt < MostAttempts; attempt++)
        {
            var view = await client.ViewOfAsync(id, random);
            var answer = await client.CallAsync(view.Address(0), request with { Epoch = view.Config.Epoch });
            switch (answer?.Status)
            {
                case Status.Ok:
                    Knows(id, ObjectVersion.Max(answer.Mark, answer.Version));
                    _done.Enqueue((chain, request, answer.Version));
                    if (_done.Count > 5) _done.Dequeue();
                    return history.End(number, call => Done(call, request, answer));
                // Final, whatever became of earlier attempts: what was applied is known by its id, and what still comes
                // is refused by its epoch, or as the same request.
                case CraqStatus.Mismatch:
                    Knows(id, answer.Mark);
                    return history.End(number, call => call with
                    {
                        Fate = ObjectFate.Mismatch,
                        Failed = answer.Index,
                        FailedVersion = answer.Version.Value,
                        Mark = answer.Mark.Value,
                    });
                case CraqStatus.Forgotten when isInDoubt:
                    return history.End(number, static call => call);
                case CraqStatus.Forgotten:
                    return history.End(number, static call => call with { Fate = ObjectFate.Refused });
                // Another epoch may have taken the record over, and a failed node has passed it on perhaps.
                case null or Status.Sealed or Status.Failed or CraqStatus.Unconfirmed:
                    isInDoubt = true;
                    break;
            }

            await AgainAsync(id);
        }

        return history.End(number, call => call with { Fate = isInDoubt ? ObjectFate.Unknown : ObjectFate.Refused });
    }

    /// <summary>Sends a write that was answered once more: the answer is the same, or the chain has forgotten it
    /// (C13).</summary>
    public async Task RepeatAsync()
    {
        if (_done.Count == 0) return;
        var (chain, request, version) = random.Pick(_done.ToArray());
        var view = await client.ViewOfAsync(request.Chain, random);
        var answer = await client.CallAsync(view.Address(0), request with { Epoch = view.Config.Epoch });
        if (answer is { IsOk: true } && answer.Version == version) cluster.Monitor.Mark("write repeated");
        if (answer is { Status: CraqStatus.Forgotten }) cluster.Monitor.Mark("write forgotten");
        if (answer is { Status: Status.Ok or CraqStatus.Mismatch } && answer.Version != version)
            cluster.Monitor.Found(CheckerNames.Once,
                $"{request.Id} was written as {version} of {chain}, and a repetition is told {answer.Status} "
                + $"{answer.Version}");
    }

    private async Task AgainAsync(ChainId chain)
    {
        await client.RefreshAsync(chain, random);
        await Task.Delay(TimeSpan.FromTicks(random.Exponential(20_000) + 1), client.Process!.Time);
    }

    private ObjectVersion MarkOf(ChainId chain) => _marks.GetValueOrDefault(chain);

    private void Knows(ChainId chain, ObjectVersion mark) => _marks[chain] = ObjectVersion.Max(MarkOf(chain), mark);

    private ObjectCall Done(ObjectCall call, MutateRequest request, MutateResponse answer)
    {
        var sums = new Queue<ulong>(answer.Result.Sums);
        return call with
        {
            Fate = ObjectFate.Done,
            Version = answer.Version.Value,
            Mark = answer.Mark.Value,
            Seen = [.. answer.Result.Reads.Select((found, i) => SeenOf(request.Reads[i], found))],
            Acts =
            [
                .. request.Operations.Select(operation =>
                    ActOf(operation, operation.Kind == ObjectOperationKind.Add ? sums.Dequeue() : null)),
            ],
        };
    }

    private static bool IsKnown(ObjectResult found) => found.Status is Status.Ok or CraqStatus.NotFound;

    private static ObjectSeen SeenOf(ObjectKey key, ObjectResult found) => new($"{key}", found.Version.Value,
        found.IsFound ? Text(found.Value) : null, found.IsDirty);

    private static ObjectTest TestOf(ObjectCompare compare) => new($"{compare.Key}", compare.Kind switch
    {
        ObjectCompareKind.Version => ObjectTestKind.Version,
        ObjectCompareKind.Exists => ObjectTestKind.Exists,
        ObjectCompareKind.Absent => ObjectTestKind.Absent,
        _ => ObjectTestKind.Value,
    }, compare.Version.Value, Text(compare.Value));

    private ObjectAct ActOf(ObjectOperation operation, ulong? sum) => new($"{operation.Key}",
        operation.Kind switch
        {
            ObjectOperationKind.Put => ObjectActKind.Put,
            ObjectOperationKind.Delete => ObjectActKind.Delete,
            ObjectOperationKind.Append => ObjectActKind.Append,
            ObjectOperationKind.Prepend => ObjectActKind.Prepend,
            ObjectOperationKind.Add => ObjectActKind.Add,
            ObjectOperationKind.Touch => ObjectActKind.Touch,
            _ => ObjectActKind.Clear,
        }, Text(operation.Value), operation.Delta, sum, TimeOf(operation.Expiry));

    // A wall clock's time, in the ticks of the run: all machines' clocks agree.
    private long TimeOf(long wall) =>
        wall > 0 ? cluster.World.Now + TimeSpan.FromMilliseconds(wall).Ticks - UnixTicks : 0;

    private long UnixTicks => (client.Process!.Time.GetUtcNow() - DateTimeOffset.UnixEpoch).Ticks;

    private static ObjectMode ModeOf(ObjectReadMode mode) => mode switch
    {
        ObjectReadMode.Strong => ObjectMode.Strong,
        ObjectReadMode.Session => ObjectMode.Session,
        ObjectReadMode.Bounded => ObjectMode.Bounded,
        _ => ObjectMode.Eventual,
    };

    private static string Text(ReadOnlyMemory<byte> value) => Encoding.ASCII.GetString(value.Span);
}
