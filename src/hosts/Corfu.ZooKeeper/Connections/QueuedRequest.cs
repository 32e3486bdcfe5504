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
}
