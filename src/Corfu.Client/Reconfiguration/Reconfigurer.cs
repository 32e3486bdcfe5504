using System.Collections.Immutable;
using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Client;

/// <summary>
/// Changes projections (TOCS 2.5, NSDI 3.2.1): seal, compute, propose, install. Any number of reconfigurers may work at once: the layout
/// decides one successor per epoch, and everything else is idempotent.
/// </summary>
public sealed partial class Reconfigurer
{
    /// <summary>Characters of a reason; longer ones are cut.</summary>
    public const int MaxReason = 200;

    private static readonly TimeSpan TellAcceptorsAfter = TimeSpan.FromMilliseconds(20);

    private readonly ITransport _transport;
    private readonly LayoutClient _layout;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly ReconfigurerOptions _options;

    public Reconfigurer(
        ITransport transport, LayoutClient layout, TimeProvider time, ILogger? logger = null, ReconfigurerOptions? options = null)
    {
        _transport = transport;
        _layout = layout;
        _time = time;
        _logger = logger ?? NullLogger.Instance;
        _options = options ?? new ReconfigurerOptions();
    }

    /// <summary>Starts a cluster: the projection of epoch 1, on units and acceptors that have served none.</summary>
    /// <returns>The first projection as decided, which is another's where another was first.</returns>
    /// <exception cref="LayoutUnavailableException">No majority of the acceptors answered.</exception>
    public async Task<Projection> CreateAsync(
        ClusterId cluster,
        NodeAddress sequencer,
        ImmutableArray<Chain> chains,
        ImmutableArray<NodeAddress> units,
        ImmutableArray<NodeAddress> acceptors,
        CancellationToken cancellationToken = default)
    {
        var first = new Projection(
            cluster, Epoch.First, sequencer, LogPosition.Zero, LogPosition.Zero, [new Segment(LogPosition.Zero, null, chains)], units, acceptors, "first",
            proposedAt: _time.GetUtcNow());
        var decided = await _layout.ProposeFirstAsync(first, cancellationToken);
        await InstallAsync(decided, cancellationToken);
        return decided;
    }

    /// <summary>
    /// Brings about the epoch after <paramref name="current"/>. The change is asked again whenever another reconfigurer was first, and
    /// says null when the projection that it is shown needs no change.
    /// </summary>
    /// <returns>The projection in force at the end, installed as far as its nodes answer.</returns>
    /// <exception cref="ReconfigurationException">The change breaks a rule, or a unit that must be sealed does not answer.</exception>
    /// <exception cref="LayoutUnavailableException">No majority of the acceptors answered; the outcome is unknown.</exception>
    public Task<Projection> ReconfigureAsync(
        Projection current, Func<Projection, Membership?> change, string reason, CancellationToken cancellationToken = default) =>
        RunAsync(current, change, reason, null, cancellationToken);

    /// <summary>As <see cref="ReconfigureAsync(Projection, Func{Projection, Membership?}, string, CancellationToken)"/>, with a ballot that is begun already.</summary>
    public Task<Projection> ReconfigureAsync(
        Projection current, Func<Projection, Membership?> change, string reason, OpenBallot ballot, CancellationToken cancellationToken = default) =>
        ballot.Slot == current.Epoch.Next
            ? RunAsync(current, change, reason, ballot, cancellationToken)
            : throw new ArgumentException($"The ballot is about {ballot.Slot}, not {current.Epoch.Next}.", nameof(ballot));

    private async Task<Projection> RunAsync(
        Projection current, Func<Projection, Membership?> change, string reason, OpenBallot? ballot, CancellationToken cancellationToken)
    {
        using var activity = ClientTelemetry.Activities.StartActivity("corfu.reconfigure");
        for (var round = 0; round < _options.MaxRounds; round++)
        {
            if (change(current) is not { } membership)
            {
                await InstallAsync(current, cancellationToken);
                return current;
            }

            MembershipRules.Check(current, membership);
            var seals = new SealRound(_transport, _time, _options, current, current.Epoch.Next);
            var sealing = seals.RunAsync(membership, cancellationToken);
            if (round > 0 || ballot is null) ballot = Prepare(current, cancellationToken);
            if (!await sealing)
            {
                current = await NewerAsync(current, cancellationToken);
                continue;
            }

            if (!membership.Destroyed.IsEmpty) seals.Raise(await GrantedAsync(current, cancellationToken));
            var proposed = Compute(current, membership, seals, reason);
            var decision = await _layout.ProposeAsync(ballot, proposed, cancellationToken);
            var decided = decision.Value;
            if (!decided.Equals(proposed))
            {
                await _layout.PublishAsync(decision, cancellationToken);
                current = decided;
                continue;
            }

            // It is decided, whoever knows it, and clients that watch have heard of the votes: units and sequencer come first, but a silent one is not waited for.
            var installing = InstallAsync(decided, cancellationToken);
            await Task.WhenAny(installing, Task.Delay(TellAcceptorsAfter, _time, cancellationToken));
            await Task.WhenAll(installing, TellAcceptorsAsync(current, decision, cancellationToken));
            return decided;
        }

        throw new ReconfigurationException($"Others were first {_options.MaxRounds} times in a row.");
    }

    /// <summary>
    /// Begins a ballot for the epoch after <paramref name="current"/>, for one change at most. Promises know of no value, so this may be done while it is not yet
    /// certain that there will be a change: unused, it is outbid by whoever begins one (R12).
    /// </summary>
    public OpenBallot Foresee(Projection current, CancellationToken cancellationToken = default) => Begun(_layout.Foresee(current, cancellationToken));

    /// <summary>As <see cref="Foresee"/>, for a change that there will be, unless somebody disagrees at once.</summary>
    public OpenBallot Prepare(Projection current, CancellationToken cancellationToken = default) => Begun(_layout.Prepare(current, cancellationToken));

    private static OpenBallot Begun(OpenBallot ballot)
    {
        ballot.Promises.Abandon();
        return ballot;
    }

    private async Task TellAcceptorsAsync(Projection current, LayoutDecision decision, CancellationToken cancellationToken)
    {
        await _layout.PublishAsync(decision, cancellationToken);
        // R12: when this returns, the old ones may retire.
        if (!decision.Value.Acceptors.AsSpan().SequenceEqual(current.Acceptors.AsSpan())) await _layout.HandOverAsync(decision.Value, cancellationToken);
    }

    private async Task<Projection> NewerAsync(Projection current, CancellationToken cancellationToken)
    {
        // Seals above the next epoch mean that it is decided; the reader of the layout finishes what its proposer has left.
        var latest = await _layout.ReadLatestAsync(current.Acceptors, cancellationToken);
        return latest is not null && latest.Epoch > current.Epoch
            ? latest
            : throw new ReconfigurationException($"Units are sealed beyond {current.Epoch.Next}, which nobody has decided: is this another cluster's unit?");
    }

    // The new start is part of the proposal (R13): what is at or above it was never acknowledged in an older epoch.
    private Projection Compute(Projection current, Membership membership, SealRound seals, string reason)
    {
        var start = LogPosition.Max(current.Start, seals.End);
        var mark = LogPosition.Max(current.TrimMark, seals.TrimMark);
        var segments = SegmentList.Next(membership, start);
        return new Projection(
            current.Cluster, current.Epoch.Next, membership.Sequencer, new LogPosition(start.Offset, current.Epoch.Next), mark, segments,
            SegmentList.UnitsOf(segments, membership.Units), membership.Acceptors, Short(reason), membership.MirrorOf,
            _time.GetUtcNow());
    }

    // Every client and every acceptor has it, for ever.
    private static string Short(string reason) => reason.Length <= MaxReason ? reason : reason[..(MaxReason - 3)] + "...";
}
