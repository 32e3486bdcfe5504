namespace Corfu.Client.Layout;

/// <summary>The clients' side of the projection store: one write-once register per epoch, decided by Paxos among the
/// acceptors that the epoch before names. Safe for concurrent use; without state.</summary>
public sealed partial class LayoutClient(
    ITransport transport, IEntropy entropy, TimeProvider time, LayoutClientOptions? options = null)
{
    // A message may be lost; an acceptor that is gone must not hold up a change for long.
    private const int IntroductionAttempts = 3;

    private static readonly LatestRequest s_latest = new(Epoch.None);

    private readonly LayoutClientOptions _options = (options ?? new LayoutClientOptions()).Validated();

    // A client has no part in elections (AccessTable): it leaves ballots and repairs to the agents.
    private bool MayVote => transport.Rights >= AccessRole.Admin;

    /// <summary>The newest projection that is decided when the call begins, or a newer one. Runs an unfinished ballot
    /// to its end where it has to, or waits for the agents where this side may not, follows changes of the acceptors,
    /// and brings acceptors that lag up to date.</summary>
    /// <param name="acceptors">Any acceptors known: of an older projection, or some of the present ones.</param>
    /// <returns>Null when there is no projection yet: the cluster was never started.</returns>
    /// <exception cref="LayoutUnavailableException">No majority answered.</exception>
    public async Task<Projection?> ReadLatestAsync(
        ImmutableArray<NodeAddress> acceptors, CancellationToken cancellationToken = default)
    {
        var members = acceptors;
        Projection? newest = null;
        for (var failures = 0; ;)
        {
            var answers = await AskAsync(members, s_latest, a => HasMajority(a) || LeadsOn(a), cancellationToken);
            if (Newest(answers) is { } seen && IsNewer(seen)) newest = seen;
            if (newest is not null && !newest.Acceptors.SequenceEqual(members))
            {
                // Only the acceptors that the newest projection names can say that there is none newer.
                members = newest.Acceptors;
                continue;
            }

            if (HasMajority(answers))
            {
                if (FindUnfinished(answers, newest, members) is not { } deciders)
                {
                    if (newest is not null && MayVote) await RepairAsync(newest, answers, cancellationToken);
                    return newest;
                }

                var slot = (newest?.Epoch ?? Epoch.None).Next;
                if (!MayVote)
                {
                    await BackOffAsync(++failures, $"{slot} is not decided, and no agent has ended its ballot yet.",
                        cancellationToken);
                    continue;
                }

                if (await RunBallotAsync(slot, deciders, null, cancellationToken) is not { } decided) return newest;
                newest = decided;
                members = decided.Acceptors;
                continue;
            }

            if (
                await FindElsewhereAsync(members, newest, cancellationToken) is { } elsewhere
                && !elsewhere.Acceptors.SequenceEqual(members))
            {
                newest = elsewhere;
                members = elsewhere.Acceptors;
                continue;
            }

            await BackOffAsync(
                ++failures, $"No majority of the layout acceptors ({Names(members)}) answers.", cancellationToken);
        }

        bool IsNewer(Projection seen) => newest is null || seen.Epoch > newest.Epoch;

        // An answer that leads to other acceptors: then the others need not all be waited for.
        bool LeadsOn(LayoutResponse?[] answers) =>
            Newest(answers) is { } seen && IsNewer(seen) && !seen.Acceptors.SequenceEqual(members);
    }

    /// <summary>The newest projection that acceptors know to be decided, if it is above <paramref name="known"/>.
    /// Unlike <see cref="ReadLatestAsync"/> it leaves a ballot that is under way to its proposer, asks once, and does
    /// not fail where acceptors are silent: null says nothing.</summary>
    /// <exception cref="CorfuDeniedException">A majority says that this side has no right to ask.</exception>
    public async Task<Projection?> PeekAsync(Projection known, CancellationToken cancellationToken = default) =>
        FindNewer(known, await AskAsync(
            known.Acceptors, s_latest, a => HasMajority(a) || FindNewer(known, a) is not null, cancellationToken));

    /// <summary>As <see cref="PeekAsync"/>; waits, for one round's time, until there is one.</summary>
    /// <inheritdoc cref="PeekAsync" path="/exception"/>
    public async Task<Projection?> WatchAsync(Projection known, CancellationToken cancellationToken = default) =>
        FindNewer(known, await AskAsync(
            known.Acceptors, new WatchRequest(known.Epoch), a => FindNewer(known, a) is not null, cancellationToken));

    /// <summary>As <see cref="ReadLatestAsync"/>, from any acceptors. One answer suffices: its projection names the
    /// acceptors to ask. Silent acceptors therefore cost no time.</summary>
    /// <returns>Null when those that answer know of no projection.</returns>
    /// <exception cref="LayoutUnavailableException">No acceptor answered, or no majority of those that the newest
    /// projection names.</exception>
    public async Task<Projection?> FindLatestAsync(
        ImmutableArray<NodeAddress> any, CancellationToken cancellationToken = default)
    {
        for (var attempt = 1; ; attempt++)
        {
            var answers = await AskAsync(any, s_latest, static a => Newest(a) is not null, cancellationToken);
            if (Newest(answers) is { } known) return await ReadLatestAsync(known.Acceptors, cancellationToken);
            for (var i = 0; i < answers.Length; i++)
            {
                // The first projection may have been accepted, and its proposer died.
                if (answers[i] is not null && await ReadLatestAsync([any[i]], cancellationToken) is { } first)
                    return first;
            }

            if (answers.Any(a => a is not null)) return null;
            await BackOffAsync(attempt, $"None of the layout acceptors ({Names(any)}) answers.", cancellationToken);
        }
    }

    /// <summary>Proposes <paramref name="next"/> as the projection after <paramref name="current"/>, which must be
    /// decided. The decision is durable at a majority, and told to the acceptors of both, on return.</summary>
    /// <returns>The decided projection of that epoch, which may be another's, or a newer one where that epoch is
    /// pruned. Compare with Equals.</returns>
    /// <exception cref="LayoutUnavailableException">The outcome is unknown: propose again, or read.</exception>
    public async Task<Projection> ProposeAsync(
        Projection current, Projection next, CancellationToken cancellationToken = default)
    {
        if (next.Epoch != current.Epoch.Next)
            throw new ArgumentException($"{next.Epoch} does not follow {current.Epoch}.", nameof(next));
        if (next.Cluster != current.Cluster)
            throw new ArgumentException("The projections belong to different clusters.", nameof(next));
        if (ProjectionCodec.Encode(next).Length > MessageLimits.MaxProjection)
            throw new CorfuStatusException(Status.TooLarge, $"The projection of {next.Epoch} is too large.");
        return (await RunBallotAsync(next.Epoch, current.Acceptors, next, cancellationToken))!;
    }

    /// <summary>Proposes the first projection of a cluster, among the acceptors that it names itself.</summary>
    /// <returns>As <see cref="ProposeAsync"/>: another starter may have been first.</returns>
    public async Task<Projection> ProposeFirstAsync(Projection first, CancellationToken cancellationToken = default)
    {
        if (first.Epoch != Epoch.First)
            throw new ArgumentException($"{first.Epoch} is not the first epoch.", nameof(first));
        return (await RunBallotAsync(first.Epoch, first.Acceptors, first, cancellationToken))!;
    }

    /// <summary>Makes a majority of the acceptors that <paramref name="decided"/> names hold it durably. After a change
    /// of acceptors, the old ones may be retired only when this has returned.</summary>
    /// <exception cref="LayoutUnavailableException">No majority is known to hold it.</exception>
    public async Task HandOverAsync(Projection decided, CancellationToken cancellationToken = default)
    {
        for (var attempt = 1; ; attempt++)
        {
            var answers = await AskAsync(
                decided.Acceptors, new DecidedRequest(decided), HasMajority, cancellationToken);
            if (HasMajority(answers)) return;
            if (answers.Any(a => a is { Status: Status.Conflict }))
                throw new CorfuStatusException(Status.Conflict,
                    $"An acceptor knows another projection as {decided.Epoch}'s: its log or the caller is wrong.");
            await BackOffAsync(attempt,
                $"No majority of the acceptors of {decided.Epoch} ({Names(decided.Acceptors)}) has taken it over.",
                cancellationToken);
        }
    }

    /// <summary>Tells a decided projection to acceptors that a later one is to name. An acceptor that holds it durably
    /// answers under the identity that will be named, and its disk takes votes.</summary>
    /// <returns>The acceptors that have not taken it.</returns>
    public async Task<ImmutableArray<NodeAddress>> IntroduceAsync(
        Projection decided, ImmutableArray<NodeAddress> acceptors, CancellationToken cancellationToken = default)
    {
        for (var attempt = 1; ; attempt++)
        {
            var answers = await AskAsync(acceptors, new DecidedRequest(decided), static _ => false, cancellationToken);
            acceptors = [.. acceptors.Where((_, i) => !HasTaken(answers[i]))];
            if (acceptors.IsEmpty || attempt == IntroductionAttempts) return acceptors;
            var pause = BackOff.After(attempt, _options.FirstBackOff, _options.MaxBackOff, entropy);
            await Task.Delay(pause, time, cancellationToken);
        }

        static bool HasTaken(LayoutResponse? answer) => answer is { IsOk: true } or { Status: Status.Superseded };
    }

    /// <summary>Confirms an epoch where chains have silent replicas. True: a majority of the acceptors, asked after the
    /// call began, have accepted no value for the next epoch, so none was decided. False: not known.</summary>
    public async Task<bool> HasNoSuccessorAsync(Projection current, CancellationToken cancellationToken = default)
    {
        var answers = await AskAsync(current.Acceptors, new ReadSlotRequest(current.Epoch.Next),
            a => IsMajorityEmpty(a) || IsTaken(a), cancellationToken);
        return IsMajorityEmpty(answers) && !IsTaken(answers);

        bool IsMajorityEmpty(LayoutResponse?[] all) => all.Count(IsEmpty) > all.Length / 2;

        bool IsTaken(LayoutResponse?[] all) => all.Any(a => a is not null && !IsEmpty(a));

        bool IsEmpty(LayoutResponse? answer) =>
            answer is { Status: Status.Ok } && answer.Slot?.Value is null
                && (answer.Latest is null || answer.Latest.Epoch <= current.Epoch);
    }

    /// <summary>A decided projection of the past, as any acceptor of <paramref name="current"/> remembers it; null when
    /// none that answers does (pruned, or before their time).</summary>
    public async Task<Projection?> ReadHistoryAsync(
        Projection current, Epoch epoch, CancellationToken cancellationToken = default)
    {
        if (epoch == current.Epoch) return current;
        var answers = await AskAsync(current.Acceptors, new ReadSlotRequest(epoch),
            static a => a.Any(r => r is { Slot.IsDecided: true }), cancellationToken);
        return answers.FirstOrDefault(r => r is { Slot.IsDecided: true })?.Slot!.Value;
    }

    private static Projection? FindNewer(Projection known, LayoutResponse?[] answers) =>
        Newest(answers) is { } newest && newest.Epoch > known.Epoch ? newest : null;

    private static Projection? Newest(LayoutResponse?[] answers) =>
        answers.Select(a => a?.Latest).MaxBy(p => p?.Epoch ?? Epoch.None);

    /// <summary>The acceptors that must bring the register after "newest" to a decision before that can be answered;
    /// null: the register is empty. A value that no majority has accepted under one ballot may still be decided (R12).
    /// A used later slot means that the one before it is decided.</summary>
    private static ImmutableArray<NodeAddress>? FindUnfinished(
        LayoutResponse?[] answers, Projection? newest, ImmutableArray<NodeAddress> members)
    {
        var next = (newest?.Epoch ?? Epoch.None).Next;
        foreach (var answer in answers)
        {
            if (answer?.Slot is not { } slot || slot.Slot < next || (slot.Slot == next && slot.Value is null)) continue;

            // The first register's acceptors are those that its value names: there is no epoch before it.
            return newest?.Acceptors ?? (slot.Slot == next ? slot.Value!.Acceptors : members);
        }

        return null;
    }

    /// <summary>Acceptors that lag learn what is decided; a majority of a successor set must (R12).</summary>
    private async Task RepairAsync(Projection newest, LayoutResponse?[] answers, CancellationToken cancellationToken)
    {
        var knowing = answers.Count(a => a?.Latest?.Epoch >= newest.Epoch);
        if (knowing <= newest.Acceptors.Length / 2)
        {
            await AskAsync(newest.Acceptors, new DecidedRequest(newest), HasMajority, cancellationToken);
            return;
        }

        for (var i = 0; i < answers.Length; i++)
        {
            if (answers[i] is { } answer && (answer.Latest is null || answer.Latest.Epoch < newest.Epoch))
                _ = TellAsync(newest.Acceptors[i], newest);
        }
    }

    /// <summary>For a client that slept while every acceptor it knew was replaced: a newer projection from other
    /// acceptors that answer at their endpoints, or at <see cref="LayoutClientOptions.Endpoints"/>. A projection that
    /// any acceptor calls decided is decided (R12); the acceptors that it names are asked next.</summary>
    private async Task<Projection?> FindElsewhereAsync(
        ImmutableArray<NodeAddress> known, Projection? newest, CancellationToken cancellationToken)
    {
        var endpoints = known.Select(a => a.Endpoint).Concat(_options.Endpoints).Distinct();
        using var timeout = new CancellationTokenSource(_options.RoundTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, cancellationToken);
        var nodes = await Task.WhenAll(endpoints.Select(e => EndpointAnswer.AskAsync(transport, e, either.Token)));
        cancellationToken.ThrowIfCancellationRequested();
        ImmutableArray<NodeAddress> others = [.. nodes.SelectMany(n => n.Acceptors).Except(known)];
        if (others.IsEmpty) return null;
        var answers = await AskAsync(others, s_latest, static a => Newest(a) is not null, cancellationToken);
        return Newest(answers) is { } found
            && (newest is null || (found.Epoch > newest.Epoch && found.Cluster == newest.Cluster))
            ? found
            : null;
    }

    private static string Names(ImmutableArray<NodeAddress> acceptors) => string.Join(", ", acceptors);
}
