namespace Corfu.Server;

/// <summary>A peer by which limits count, with all that its connections hold together.</summary>
/// <param name="isNode">A node of the cluster: by its certificate, or without TLS by its address.</param>
internal sealed class Identity(Principal principal, bool isNode, TimeProvider time)
{
    private long _answerBytes;

    /// <summary>The first connection's; role and name are those of all.</summary>
    public Principal Principal => principal;

    public bool IsNode => isNode;

    /// <summary>A certificate says that it is a node. An address says less: clients may share it.</summary>
    public bool IsProvenNode => principal is { Role: AccessRole.Node, Serial: not null };

    /// <summary>Guarded by the book's gate.</summary>
    public HashSet<ServerConnection> Connections { get; } = [];

    /// <summary>By role. Guarded by the book's gate.</summary>
    public Dictionary<NodeId, RequestShare> Shares { get; } = [];

    /// <summary>The time stamp at which its last connection ended. Guarded by the book's gate.</summary>
    public long LastLeft { get; set; }

    /// <summary>Memory of incomplete large frames. Guarded by the budget's gate.</summary>
    public long FrameBytes { get; set; }

    public Pace Requests { get; } = new(time);

    public Pace Bytes { get; } = new(time);

    public long AnswerBytes => Volatile.Read(ref _answerBytes);

    public long AddAnswerBytes(long change) => Interlocked.Add(ref _answerBytes, change);
}
