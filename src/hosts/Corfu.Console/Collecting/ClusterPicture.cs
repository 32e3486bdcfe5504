namespace Corfu.WebConsole.Collecting;

/// <summary>A cluster as the console knows it at one moment. Every part has the time of the answer that it comes
/// from.</summary>
/// <param name="At">When the picture was put together.</param>
/// <param name="Projection">The newest decided one that any process has told; null before the first answer.</param>
/// <param name="HasMajority">Whether a majority of the projection's acceptors answered within the last
/// seconds.</param>
/// <param name="Verdict">Null before the first answers.</param>
/// <param name="Tail">The answer of the projection's sequencer.</param>
/// <param name="Answers">Times of answers to this console within the last minute.</param>
public sealed record ClusterPicture(
    DateTimeOffset At, ClusterId Cluster, Projection? Projection, bool HasMajority, ClusterVerdict? Verdict,
    ImmutableArray<ProcessPicture> Processes, TailPicture? Tail, AnswerTimes? Answers)
{
    public static ClusterPicture Empty { get; } =
        new(DateTimeOffset.MinValue, ClusterId.None, null, false, null, [], null, null);

    /// <summary>Positions granted each second, newest last.</summary>
    public ImmutableArray<Point> Rates { get; init; } = [];

    /// <summary>The slowest answer to this console in each second, in milliseconds, newest last.</summary>
    public ImmutableArray<Point> SlowAnswers { get; init; } = [];

    /// <summary>Bytes on the disks of all units, newest last.</summary>
    public ImmutableArray<Point> Stored { get; init; } = [];

    /// <summary>Why nothing is known; null once a process has answered.</summary>
    public string? Problem { get; init; }

    public IEnumerable<ProcessPicture> Answering => Processes.Where(process => !process.IsSilent(At));

    /// <summary>The newest view among the agents.</summary>
    public ProcessPicture? NewestAgent => Processes.Where(static process => process.Agent is not null)
        .OrderByDescending(static process => process.Agent!.Epoch)
        .ThenByDescending(static process => process.AnsweredAt).FirstOrDefault();

    /// <summary>The name that the process there gives itself; null while it is not known.</summary>
    public string? NameOf(NodeEndpoint endpoint) =>
        Processes.FirstOrDefault(process => process.Endpoint == endpoint)?.Report?.Process.Name is { Length: > 0 } name
            ? name
            : null;

    /// <summary>The name, or the address.</summary>
    public string Call(NodeEndpoint endpoint) => NameOf(endpoint) ?? endpoint.ToString();

    public RolePicture? Find(NodeId role) =>
        Processes.SelectMany(static process => process.Roles).FirstOrDefault(found => found.Id == role);
}

/// <summary>An agent's verdict on a role.</summary>
public sealed record AgentWord(NodeEndpoint Agent, NodeReport Report, DateTimeOffset At);

/// <summary>A sequencer's answer.</summary>
/// <param name="PerSecond">Null before the second answer.</param>
public sealed record TailPicture(
    NodeEndpoint From, DateTimeOffset At, LogPosition Tail, long Streams, double? PerSecond);

/// <summary>Times of answers to this console.</summary>
/// <param name="Slowest">The 99th percentile, in milliseconds.</param>
public sealed record AnswerTimes(double Slowest);

/// <summary>A process and its roles, as the process itself has told.</summary>
/// <param name="AskedSince">When this console first asked it.</param>
/// <param name="AnsweredAt">Null: it never answered.</param>
/// <param name="Problem">Why the newest question has no answer; null if it has.</param>
/// <param name="Took">How long the newest answer took.</param>
public sealed record ProcessPicture(
    NodeEndpoint Endpoint, DateTimeOffset AskedSince, DateTimeOffset? AnsweredAt, string? Problem, TimeSpan Took,
    ImmutableArray<RolePicture> Roles, AgentInfoResponse? Agent)
{
    /// <summary>A process that has not answered for this long is silent to pages; one late answer is not.</summary>
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(3);

    /// <summary>Null: an older build, or no answer yet.</summary>
    public ReportPicture? Report { get; init; }

    public TimeSpan SilentFor(DateTimeOffset now) => now - (AnsweredAt ?? AskedSince);

    public bool IsSilent(DateTimeOffset now) => Problem is not null && SilentFor(now) >= Patience;
}

/// <summary>A role of a process.</summary>
/// <param name="At">When it answered, or was asked in vain.</param>
/// <param name="Unit">A unit's figures.</param>
/// <param name="Latest">The newest decided projection that an acceptor knows.</param>
public sealed record RolePicture(
    NodeRole Role, NodeId Id, NodeEndpoint Endpoint, RoleAnswer Answer, DateTimeOffset At, UnitInfoResponse? Unit,
    Projection? Latest, SequencerInfoResponse? Sequencer);

/// <summary>A process's report of itself.</summary>
/// <param name="Offset">The process's clock less this console's, to within half an answer's time.</param>
public sealed record ReportPicture(ProcessReport Process, DateTimeOffset At, TimeSpan Offset);
