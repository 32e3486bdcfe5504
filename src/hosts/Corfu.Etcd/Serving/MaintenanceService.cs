using System.Buffers.Binary;
using System.IO.Hashing;
using Corfu.Etcd.Translation;
using Grpc.Core;

namespace Corfu.Etcd.Serving;

/// <summary>State of the front end, for operators.</summary>
internal sealed class MaintenanceService(StoreAccess access) : Maintenance.MaintenanceBase
{
    /// <summary>The version of etcd whose calls are answered: clients choose calls by it.</summary>
    public const string Version = "3.4.23";

    public override Task<StatusResponse> Status(StatusRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Status), context, async (served, token) =>
        {
            // Any: front ends have no leader, and the least is the same for all of them.
            var members = await served.Members.ListAsync(local: true, token).ConfigureAwait(false);
            return new StatusResponse
            {
                Header = served.Header(),
                Version = Version,
                Leader = members is [var first, ..] ? first.Id : served.Identity.Member,
                RaftIndex = (ulong)served.Store.Revision,
                RaftAppliedIndex = (ulong)served.Store.Revision,
                RaftTerm = served.Term,
            };
        });

    /// <summary>There are none: the log's nodes have alarms of their own.</summary>
    public override Task<AlarmResponse> Alarm(AlarmRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Alarm), context, static (_, _) =>
            Task.FromResult(new AlarmResponse()));

    /// <summary>Without effect: a front end has no file.</summary>
    public override Task<DefragmentResponse> Defragment(DefragmentRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Defragment), context, static (_, _) =>
            Task.FromResult(new DefragmentResponse()));

    public override Task<HashResponse> Hash(HashRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(Hash), context, async (served, token) =>
        {
            var (hash, revision) = await HashAsync(served, 0, token).ConfigureAwait(false);
            return new HashResponse { Header = served.Header(revision), Hash = hash };
        });

    public override Task<HashKVResponse> HashKV(HashKVRequest request, ServerCallContext context) =>
        access.RunAsync(nameof(HashKV), context, async (served, token) =>
        {
            var (hash, revision) = await HashAsync(served, request.Revision, token).ConfigureAwait(false);
            return new HashKVResponse { Header = served.Header(revision), Hash = hash };
        });

    public override Task Snapshot(SnapshotRequest request, IServerStreamWriter<SnapshotResponse> responseStream,
        ServerCallContext context) =>
        throw EtcdErrors.Unsupported("A front end has no file: 'corfu backup' copies the log, and 'etcdctl "
            + "make-mirror' copies keys.");

    public override Task<MoveLeaderResponse> MoveLeader(MoveLeaderRequest request, ServerCallContext context) =>
        throw EtcdErrors.Unsupported("Front ends are equal: none leads.");

    /// <summary>Over the keys and their revisions, which name the values: equal at all front ends, and no
    /// etcd's.</summary>
    private static async Task<(uint Hash, long Revision)> HashAsync(
        ServedStore served, long revision, CancellationToken cancellationToken)
    {
        var at = revision > 0 ? ReadAs.At(revision) : ReadAs.Linearizable;
        var found = await served.Store.RangeAsync(
            StoreRange.All, new RangeOptions { KeysOnly = true }, at, cancellationToken).ConfigureAwait(false);
        var hash = new XxHash32();
        var numbers = new byte[4 * sizeof(long)];
        foreach (var entry in found.Entries)
        {
            BinaryPrimitives.WriteInt64LittleEndian(numbers, entry.Created);
            BinaryPrimitives.WriteInt64LittleEndian(numbers.AsSpan(8), entry.Revision);
            BinaryPrimitives.WriteInt64LittleEndian(numbers.AsSpan(16), entry.Version);
            BinaryPrimitives.WriteInt64LittleEndian(numbers.AsSpan(24), entry.Lease);
            hash.Append(entry.Key.Bytes);
            hash.Append(numbers);
        }

        return (hash.GetCurrentHashAsUInt32(), found.Revision);
    }
}
