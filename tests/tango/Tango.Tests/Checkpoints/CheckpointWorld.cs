using Corfu;
using Microsoft.Extensions.Logging.Abstractions;
using Tango.Checkpoints;
using Tango.Model;
using Tango.Playback;

namespace Tango.Tests.Checkpoints;

/// <summary>Steps of tests about checkpoints.</summary>
internal static class CheckpointWorld
{
    public static CohortMember Member(
        ulong id, string name = "accounts", string? group = null, int capacity = 65_536) =>
        new(new DirectoryEntry(new ObjectId(id), name, "test-accounts", group, capacity), TypeOf<Accounts>());

    public static ValueTask<CohortSnapshot?> LoadAsync(this World world, params IReadOnlyList<CohortMember> members) =>
        world.LoadAsync(null, members);

    public static ValueTask<CohortSnapshot?> LoadAsync(
        this World world, LogPosition? atMost, params IReadOnlyList<CohortMember> members) =>
        new CheckpointReader(world.Log, FeatureLevel.Newest, NullLogger.Instance).LoadNewestAsync(
            members[0].Entry.Id, (_, _) => new(members), atMost, TestContext.Current.CancellationToken);

    /// <summary>Positions of the entries in the checkpoint stream of an object, in order.</summary>
    public static async Task<List<LogEntry>> CheckpointEntriesAsync(this World world, ulong id)
    {
        var cursor = world.Log.OpenCursor();
        cursor.Add(CheckpointFormat.StreamOf(new ObjectId(id)), LogPosition.Zero);
        await cursor.SyncAsync();
        var entries = new List<LogEntry>();
        while (await cursor.ReadNextAsync() is { } entry) entries.Add(entry);
        return entries;
    }

    /// <summary>All that a checkpoint says, as bytes: equal bytes, equal checkpoints.</summary>
    public static string Encode(CohortSnapshot snapshot)
    {
        var buffer = new ChunkedBuffer();
        var parts = CheckpointContent.Write(buffer, snapshot);
        var content = buffer.Cut(100).Select(static chunk => Convert.ToHexStringLower(chunk.Span));
        return string.Join(' ', content.Append(string.Join(' ', parts)));
    }

    /// <summary>The snapshot that a checkpoint of the object would hold now.</summary>
    public static ValueTask<CohortSnapshot> CaptureAsync(this TangoRuntime runtime, TangoObject handle) =>
        runtime.Services.Playback.Player.CaptureAsync(
            ((Tango.Runtime.ObjectHost)handle.Host).Hosted!.Cohort, TestContext.Current.CancellationToken);

    private static TangoObjectType TypeOf<T>()
        where T : TangoObject, ITangoObject<T> => T.ObjectType;
}
