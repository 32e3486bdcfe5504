namespace Salus.Reads;

/// <summary>Asks the members of regions until one of them gives a verified answer.</summary>
internal sealed class MemberAsker(IVolumeLog log, AskPorts ports, TimeSpan patience, IEntropy entropy)
{
    private static readonly TimeSpan s_firstPause = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan s_longestPause = TimeSpan.FromMilliseconds(500);

    /// <returns>The judgment is <see cref="Judgment.Good"/> or <see cref="Judgment.Changed"/>.</returns>
    /// <exception cref="VolumeException">No member has answered within the patience, or all answers were
    /// wrong.</exception>
    public async Task<RoundEnd<TResponse>> AskAsync<TResponse>(
        MemberQuestion<TResponse> question, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var begun = ports.Time.GetTimestamp();
        for (var round = 1; ; round++)
        {
            var end = await AskOnceAsync(question, cancellationToken);
            if (end.Judgment is Judgment.Good or Judgment.Changed) return end;
            if (ports.Time.GetElapsedTime(begun) > patience) throw Failure(question, end.Judgment);
            var pause = BackOff.After(round, s_firstPause, s_longestPause, entropy);
            await Task.Delay(Clock.Whole(pause), ports.Time, cancellationToken);
            try
            {
                // The next generation may be on the log by now.
                await log.RefreshAsync(cancellationToken);
            }
            catch (CorfuException)
            {
                // The log cannot be reached: the members that are known are asked again.
            }
        }
    }

    /// <summary>Gives each member its chance once.</summary>
    public async Task<RoundEnd<TResponse>> AskOnceAsync<TResponse>(
        MemberQuestion<TResponse> question, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var region = question.Region.Region;
        var route = RegionRoute.Of(log.State.Regions[region].Current, log.Nodes);
        using var over = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var round = new AskRound<TResponse>(question, route, ports, over.Token);
        try
        {
            var end = await round.RunAsync();
            if (end.Judgment is Judgment.Unable or Judgment.Wrong)
            {
                foreach (var member in round.Silent)
                    ports.Suspect(region, route.Generation, member.Incarnation, SuspicionKind.Stall);
            }

            return end;
        }
        finally
        {
            // Answers that nothing waits for any more.
            over.Cancel();
        }
    }

    private static VolumeException Failure<TResponse>(MemberQuestion<TResponse> question, Judgment judgment)
        where TResponse : Response
    {
        if (judgment != Judgment.Wrong)
        {
            return new VolumeException(VolumeFault.Unavailable, $"No member of region {question.Region.Region} "
                + $"answered ({question.What}): see 'corfu volume status' for the stores that it needs.");
        }

        SalusClientTelemetry.Unverifiable.Add(1);
        return new VolumeException(VolumeFault.Unverifiable, $"No copy of region {question.Region.Region} matches the "
            + $"volume's hash tree ({question.What}): run 'corfu volume check'.");
    }
}
