using Tango.ZooKeeper;
using Corfu.ZooKeeper.Wire;

namespace Corfu.ZooKeeper.Connections;

/// <summary>A request without a reply.</summary>
/// <param name="request">Null: its body is malformed, or its type is unknown.</param>
/// <param name="ids">All that the connection had proved when the request came.</param>
/// <param name="frame">Bytes of its frame.</param>
/// <param name="began">Time stamp of its arrival.</param>
internal sealed class QueuedRequest(
    RequestHead head, ClientRequest? request, ImmutableArray<AuthId> ids, int frame, long began)
{
    /// <summary>Memory that a request takes beside its frame.</summary>
    private const int Overhead = 256;

    public RequestHead Head => head;

    public ClientRequest? Request => request;

    public ImmutableArray<AuthId> Ids => ids;

    public int Bytes => frame + Overhead;

    public long Began => began;

    /// <summary>Number of the write; 0: it is not posted.</summary>
    public long Number { get; set; }

    public TangoPost Post { get; set; }

    /// <summary>Counts the requests of the connection.</summary>
    public long Order { get; init; }

    /// <summary>A sync or a linearizable read: no check that began behind it is played yet. Writes behind it are not
    /// posted.</summary>
    public bool AwaitsCheck { get; set; }

    /// <summary>Mounts of partitions that are not played here yet.</summary>
    public ImmutableArray<string> Missing { get; init; } = [];

    /// <summary>Concerns several partitions, and is no single post: it begins behind the reply to all before it, and
    /// writes behind it wait for its reply (Z16).</summary>
    public bool IsBarrier { get; init; }

    /// <summary>Writes behind it are not posted.</summary>
    public bool HoldsWrites => AwaitsCheck || IsBarrier && !Planted.Is("multi-is-overtaken");

    /// <summary>Results of the parts of a multi across partitions that were played.</summary>
    public OpResult?[]? Results { get; set; }

    /// <summary>Takes the result of a part of a multi.</summary>
    /// <returns>The result of the multi; null: parts are missing.</returns>
    public MultiResult? Gather(PartResult part)
    {
        var results = Results ??= new OpResult?[part.Total];
        for (var i = 0; i < part.Parts.Length; i++) results[part.Indexes[i]] = part.Parts[i];
        return Array.TrueForAll(results, static result => result is not null)
            ? new MultiResult(ZooKeeperError.Ok, [.. results!])
            : null;
    }
}
