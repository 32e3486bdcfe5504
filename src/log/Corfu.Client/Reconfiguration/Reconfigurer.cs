using Corfu.Client.Layout;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Client;

/// <summary>Changes projections (TOCS 2.5, NSDI 3.2.1). Any number of reconfigurers may work at once: the layout
/// decides one successor per epoch, and everything else is idempotent.</summary>
/// <remarks>
/// 1. The change says which membership it wants; that is checked against the rules. Acceptors that it
/// newly names must take the current projection first: nothing is sealed for one that is gone.
/// 2. Seal, in parallel, all units of the active segment and of every chain that changes, until each first survivor has
/// answered.
/// 3. Compute the next projection: its start lies above every position that a sealed unit reports.
/// 4. Propose it to the acceptors of the current epoch. If another projection was decided, back to step 1 with
/// that one.
/// 5. Install it at its units and its sequencer.
/// 6. If the acceptors changed, hand the decision over to the new ones. Then the old ones may retire.
/// </remarks>
public sealed partial class Reconfigurer(ITransport transport, LayoutClient layout, TimeProvider time,
    ILogger? logger = null, ReconfigurerOptions? options = null)
{
    private const int MaxReason = 200;

    // Rounds lost to other reconfigurers, or to seals too far ahead, before this one gives up.
    private const int MaxRounds = 16;

    private readonly ILogger _logger = logger ?? NullLogger.Instance;
    private readonly ReconfigurerOptions _options = options ?? new ReconfigurerOptions();

    /// <summary>Starts a cluster: the projection of epoch 1, on units and acceptors that have served none.</summary>
    /// <returns>The first projection as decided, which is another's where another was first.</returns>
    /// <exception cref="LayoutUnavailableException">No majority of the acceptors answered.</exception>
    public async Task<Projection> CreateAsync(
        ClusterId cluster, NodeAddress sequencer, ImmutableArray<Chain> chains, ImmutableArray<NodeAddress> units,
        ImmutableArray<NodeAddress> acceptors, CancellationToken cancellationToken = default)
    {
        var first = new Projection(cluster, Epoch.First, sequencer, LogPosition.Zero, LogPosition.Zero,
            [new Segment(LogPosition.Zero, null, chains)], units, acceptors, "first", proposedAt: time.GetUtcNow());
        var decided = await layout.ProposeFirstAsync(first, cancellationToken);
        await InstallAsync(decided, cancellationToken);
        return decided;
    }

    /// <summary>Brings about the epoch after <paramref name="current"/>. The change is asked again whenever another
    /// reconfigurer was first; null: the projection that it is shown needs no change.</summary>
    /// <param name="reason">At most 200 characters; a longer one is cut.</param>
    /// <returns>The projection in force at the end, installed as far as its nodes answer.</returns>
    /// <exception cref="ReconfigurationException">The change breaks a rule, or a unit that must be sealed does not
    /// answer.</exception>
    /// <exception cref="LayoutUnavailableException">No majority of the acceptors answered; the outcome is
    /// unknown.</exception>
    /// <exception cref="CorfuDeniedException">This side's role does not allow it. Nothing is changed.</exception>
    public async Task<Projection> ReconfigureAsync(Projection current, Func<Projection, Membership?> change,
        string reason, CancellationToken cancellationToken = default)
    {
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.client.reconfigure");
        var undecided = Epoch.None;
        for (var round = 0; round < MaxRounds; round++)
        {
            // 1.
            var membership = change(current) ?? (current.Epoch < undecided ? Membership.Of(current) : null);
            if (membership is null)
            {
                await InstallAsync(current, cancellationToken);
                return current;
            }

            MembershipRules.Check(current, membership);
            await IntroduceAcceptorsAsync(current, membership, cancellationToken);

            // 2.
            var seals = new SealRound(transport, time, _options, current, current.Epoch.Next, undecided);
            if (!await seals.RunAsync(membership, cancellationToken))
            {
                var newer = await NewerAsync(current, seals.Superseded, cancellationToken);
                if (newer is null) undecided = seals.Superseded;
                else current = newer;
                continue;
            }

            if (!membership.Destroyed.IsEmpty) seals.Raise(await GrantedAsync(current, cancellationToken));

            // 3.
            var proposed = Compute(current, membership, seals, reason, current.Epoch.Next);

            // 4.
            var decided = await layout.ProposeAsync(current, proposed, cancellationToken);
            if (!decided.Equals(proposed))
            {
                current = decided;
                continue;
            }

            // 5.
            await InstallAsync(decided, cancellationToken);

            // 6.
            if (!decided.Acceptors.AsSpan().SequenceEqual(current.Acceptors.AsSpan()))
                await layout.HandOverAsync(decided, cancellationToken);
            if (decided.Epoch >= undecided) return decided;
            current = decided;
        }

        throw new ReconfigurationException(
            $"No success in {MaxRounds} rounds: others were first, or units are sealed too far ahead.");
    }

    /// <summary>Checks that newly named acceptors answer now. An acceptor that has lost its disk would never answer,
    /// and with a majority of such acceptors no later epoch could be decided.</summary>
    /// <exception cref="ReconfigurationException">An acceptor does not answer. Nothing is changed.</exception>
    private async Task IntroduceAcceptorsAsync(
        Projection current, Membership membership, CancellationToken cancellationToken)
    {
        // An acceptor that has only moved is named already, and a majority decides without it.
        ImmutableArray<NodeAddress> joining =
            [.. membership.Acceptors.ExceptBy(current.Acceptors.Select(named => named.Id), joins => joins.Id)];
        if (await layout.IntroduceAsync(current, joining, cancellationToken) is [var silent, ..])
            throw new ReconfigurationException($"Acceptor {silent} does not take {current.Epoch}: it cannot decide.");
    }

    /// <summary>Seals above the next epoch mean that it is decided; the read finishes a ballot that its proposer has
    /// left.</summary>
    /// <returns>Null when it is not: a client has sealed for an epoch too high, and the epochs up to there must be
    /// decided before the unit serves again.</returns>
    private async Task<Projection?> NewerAsync(Projection current, Epoch sealedTo, CancellationToken cancellationToken)
    {
        var latest = await layout.ReadLatestAsync(current.Acceptors, cancellationToken);
        if (latest is not null && latest.Epoch > current.Epoch) return latest;
        if (sealedTo.Value - current.Epoch.Value <= MaxRounds) return null;
        throw new ReconfigurationException(
            $"A unit is sealed to {sealedTo}, and {current.Epoch.Next} is not decided: format it anew.");
    }

    // The new start is part of the proposal (R13): what is at or above it was never acknowledged in an older epoch.
    private Projection Compute(Projection current, Membership membership, SealRound seals, string reason, Epoch epoch)
    {
        var start = LogPosition.Max(current.Start, seals.End);
        var mark = LogPosition.Max(current.TrimMark, seals.TrimMark);
        var segments = SegmentList.Next(membership, start);
        return new Projection(current.Cluster, epoch, membership.Sequencer, new LogPosition(start.Offset, epoch), mark,
            segments, SegmentList.UnitsOf(segments, membership.Units), membership.Acceptors,
            reason.Length <= MaxReason ? reason : reason[..(MaxReason - 3)] + "...", membership.MirrorOf,
            time.GetUtcNow());
    }

    /// <summary>Hands the projection to its units and its sequencer (R7, R14). Each node gets one attempt: later it
    /// gets the projection from the first client that meets it.</summary>
    private async Task InstallAsync(Projection projection, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(_options.InstallTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        List<Task> calls = [TryAsync(projection.Sequencer, new BootstrapRequest(projection), either.Token)];
        foreach (var unit in projection.Units) calls.Add(TryAsync(unit, new InstallRequest(projection), either.Token));
        await Task.WhenAll(calls);
        cancellationToken.ThrowIfCancellationRequested();
    }

    private async Task TryAsync(NodeAddress node, AckRequest request, CancellationToken cancellationToken)
    {
        try
        {
            var response = await transport.CallAsync(node, request, cancellationToken);
            if (!response.IsOk && response.Status != Status.Sealed)
                ClientLog.NotInstalled(_logger, request.Epoch.ToString(), node.ToString(), response.Status.ToString());
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            ClientLog.NotInstalled(_logger, request.Epoch.ToString(), node.ToString(), e.Message);
        }
    }

    /// <summary>R14's override: destroyed units cannot report their highest address, so the new epoch might grant
    /// acknowledged positions again. Every acknowledged position had been granted before: the old sequencer is asked
    /// after the seals.</summary>
    /// <returns>The lowest position that it has not granted; zero where it does not answer.</returns>
    private async ValueTask<LogPosition> GrantedAsync(Projection current, CancellationToken cancellationToken)
    {
        using var timeout = new CancellationTokenSource(_options.RoundTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        try
        {
            var answer = await transport.CallAsync(current.Sequencer, new TailRequest(current.Epoch, []), either.Token);
            if (answer.IsOk) return answer.Tail;
            ClientLog.TailNotKnown(_logger, current.Sequencer.ToString(), answer.Status.ToString());
        }
        catch (Exception e) when (
            e is TransportException or OperationCanceledException && !cancellationToken.IsCancellationRequested)
        {
            ClientLog.TailNotKnown(_logger, current.Sequencer.ToString(), e.Message);
        }

        return LogPosition.Zero;
    }
}
