namespace Corfu.WebConsole.Collecting;

/// <summary>Asks one process how it is, at a fixed rate, and less often while it is silent. One question is under way
/// at a time.</summary>
internal sealed class ProcessWatch(NodeEndpoint endpoint, ITransport transport, TimeProvider time)
{
    // With the time of an answer these figures stay younger than five seconds, from when on pages dim them.
    private static readonly TimeSpan s_slowInterval = TimeSpan.FromSeconds(3.5);
    private static readonly TimeSpan s_longInterval = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromSeconds(8);

    private readonly DateTimeOffset _askedSince = time.GetUtcNow();

    // Used by the question under way alone.
    private ImmutableArray<RoleIdentity> _identities = [];
    private DateTimeOffset _describedAt;
    private DateTimeOffset _notBefore;
    private TimeSpan _pause;

    private ProcessPicture? _picture;
    private int _isAsking;

    public NodeEndpoint Endpoint => endpoint;

    public ProcessPicture Picture => Volatile.Read(ref _picture) ?? Unasked;

    private ProcessPicture Unasked => new(endpoint, _askedSince, null, null, TimeSpan.Zero, [], null);

    /// <param name="epoch">The newest one known: a role that serves an older one is asked without a pause.</param>
    public async Task AskAsync(ClusterId cluster, Epoch epoch, CancellationToken stop)
    {
        if (time.GetUtcNow() < _notBefore || Interlocked.Exchange(ref _isAsking, 1) != 0) return;
        try
        {
            var answered = await AskNowAsync(cluster, epoch, stop);
            (_pause, _notBefore) = (TimeSpan.Zero, default);
            Volatile.Write(ref _picture, answered);
        }
        catch (Exception e) when (e is CorfuException or OperationCanceledException)
        {
            _describedAt = default;
            _pause = _pause == TimeSpan.Zero
                ? TimeSpan.FromSeconds(1)
                : TimeSpan.FromTicks(Math.Min(_pause.Ticks * 2, s_longestPause.Ticks));
            _notBefore = time.GetUtcNow() + _pause;
            Volatile.Write(ref _picture, Picture with { Problem = e.Message });
        }
        finally
        {
            Volatile.Write(ref _isAsking, 0);
        }
    }

    private async Task<ProcessPicture> AskNowAsync(ClusterId cluster, Epoch epoch, CancellationToken stop)
    {
        var before = Picture;
        // Roles and identities change with a restart, which a lost connection shows, or within a process. A description
        // costs a connection, and a role may be damaged for days.
        var isOutdated = before.Roles.Any(static role => !role.Answer.Answers);
        if (time.GetUtcNow() - _describedAt >= (isOutdated ? s_slowInterval : s_longInterval))
        {
            var description = await transport.DescribeAsync(endpoint, stop);
            if (description.Cluster != cluster)
                throw new ForeignProcessException(
                    $"{endpoint} belongs to the cluster {description.Cluster}, not to {cluster}.");
            (_identities, _describedAt) = (description.Roles, time.GetUtcNow());
        }

        var agent = _identities.FirstOrDefault(static role => role.Role == NodeRole.Agent);
        var began = time.GetTimestamp();
        var info = agent.Id.IsNone
            ? null
            : await transport.CallAsync(
                new NodeAddress(agent.Id, endpoint), new AgentInfoRequest(Epoch.None), stop);
        var took = time.GetElapsedTime(began);
        var report = agent.Id.IsNone || time.GetUtcNow() - before.Report?.At < s_slowInterval
            ? before.Report
            : await AskReportAsync(new NodeAddress(agent.Id, endpoint), before.Report, stop);
        var roles = await Task.WhenAll(
            _identities.Where(static role => role.Role != NodeRole.Agent)
                .Select(role => AskRoleAsync(role, before, epoch, stop)));
        return before with
        {
            AnsweredAt = time.GetUtcNow(),
            Problem = null,
            Took = took,
            Roles = [.. roles],
            Agent = info is { IsOk: true } ? info : null,
            Report = report,
        };
    }

    // A process of an older build has no such answer.
    private async Task<ReportPicture?> AskReportAsync(
        NodeAddress agent, ReportPicture? before, CancellationToken stop)
    {
        var (began, at) = (time.GetTimestamp(), time.GetUtcNow());
        var answer = await transport.CallAsync(agent, new ProcessInfoRequest(Epoch.None), stop);
        if (answer.Process is not { } report) return before;
        // The process's clock was read between question and answer.
        var halfway = at + time.GetElapsedTime(began) / 2;
        return new ReportPicture(report, time.GetUtcNow(), report.Now - halfway);
    }

    // Units are asked less often: their answers change slowly and cost more.
    private async Task<RolePicture> AskRoleAsync(
        RoleIdentity role, ProcessPicture before, Epoch epoch, CancellationToken stop)
    {
        var known = before.Roles.FirstOrDefault(picture => picture.Id == role.Id);
        if (role.Role == NodeRole.Unit && known is { Answer.Answers: true } && known.Answer.Epoch >= epoch
            && time.GetUtcNow() - known.At < s_slowInterval) return known;
        var recording = new RecordingTransport(transport);
        var answer = await NodeRoles.Log.ProbeAsync(
            recording, new NodeAddress(role.Id, endpoint), role.Role, stop);
        return new RolePicture(role.Role, role.Id, endpoint, answer, time.GetUtcNow(),
            recording.Last as UnitInfoResponse, (recording.Last as LayoutResponse)?.Latest,
            recording.Last as SequencerInfoResponse);
    }
}

/// <summary>A process of another cluster answers.</summary>
internal sealed class ForeignProcessException(string message) : CorfuException(message);
