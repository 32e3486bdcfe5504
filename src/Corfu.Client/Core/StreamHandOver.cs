using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// Tells the sequencer of an epoch the tails of streams below the epoch's start. They are frozen at the units, so every client
/// merges the same lists, and the first hand-over of a stream wins (design 4, Sequencer).
/// </summary>
internal sealed class StreamHandOver(ClientCore core)
{
    private const int MaxTogether = 1024;

    private readonly Lock _gate = new();

    // Guarded by _gate, with all that it holds: of the epoch that was asked for last. What is frozen in an epoch does not change, so it does not matter who reads it, or when (R14).
    private Company? _company;

    /// <summary>Tells the epoch's sequencer at once what is known early (<see cref="EarlyTails"/>).</summary>
    public void Begin(EpochView view) => CompanyOf(view);

    /// <summary>A new sequencer meets many streams at once: those that come while others are handed over go together.</summary>
    /// <returns>Ok, or why the epoch's units or sequencer refuse: Sealed above all, which a sequencer that was replaced never hears of.</returns>
    public async Task<Status> RunAsync(EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        if (Join(view, streams) is not { } party) return await HandOverAsync(view, streams, null, cancellationToken);
        var status = await party.Done.Task.WaitOrCancelAsync(cancellationToken);
        // A refusal may be about another caller's streams.
        return status is Status.Ok or Status.Sealed || party.Callers == 1 ? status : await HandOverAsync(view, streams, null, cancellationToken);
    }

    /// <summary>
    /// As <see cref="RunAsync"/>, before the sequencer has been asked about the streams, which it cannot know; returns as soon as it has been sent their
    /// tails, or cannot be. Whether it has taken them is what it answers to the request behind.
    /// </summary>
    public async Task SendAsync(EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        // A mirror's lists are final when its copier says so: its sequencer asks for them then.
        if (view.Projection.IsMirror) return;
        var company = CompanyOf(view);
        if (company.HasTold(streams)) await company.Told.Task.WaitOrCancelAsync(cancellationToken);
        else if (Join(view, streams) is { } party) await party.Sent.Task.WaitOrCancelAsync(cancellationToken);
    }

    private Company CompanyOf(EpochView view)
    {
        Company company;
        ImmutableArray<StreamTail> early;
        lock (_gate)
        {
            if (_company?.View == view) return _company;
            early = view.Projection.Start > LogPosition.Zero ? core.EarlyTails.Take(view) : [];
            company = new Company(view, early);
            // Who is behind is alone, and does not end the newer epoch's.
            if (_company is null || _company.View.Epoch <= view.Epoch) _company = company;
        }

        if (!early.IsEmpty) HandOverAsync(view, early, core.Closed).Abandon();
        company.Told.SetResult();
        return company;
    }

    /// <summary>Null when too many wait already.</summary>
    private Party? Join(EpochView view, ImmutableArray<StreamId> streams)
    {
        var company = CompanyOf(view);
        Party party;
        bool first;
        lock (_gate)
        {
            if ((company.Waiting?.Streams.Count ?? 0) + streams.Length > MaxTogether) return null;
            party = company.Waiting ??= new Party();
            party.Streams.AddRange(streams);
            party.Callers++;
            first = !company.IsUnderWay;
            company.IsUnderWay = true;
        }

        if (first) RunAllAsync(company).Abandon();
        return party;
    }

    private async Task RunAllAsync(Company company)
    {
        while (true)
        {
            Party? next;
            lock (_gate)
            {
                (next, company.Waiting) = (company.Waiting, null);
                company.IsUnderWay = next is not null;
            }

            if (next is null) return;
            try
            {
                next.Done.SetResult(await HandOverAsync(company.View, [.. next.Streams], next.Sent, core.Closed));
            }
            catch (Exception e)
            {
                next.Done.SetException(e);
                next.Done.Task.Abandon();
            }

            next.Sent.TrySetResult();
        }
    }

    private async Task<Status> HandOverAsync(EpochView view, ImmutableArray<StreamId> streams, TaskCompletionSource? sent, CancellationToken cancellationToken)
    {
        var tails = await GatherAsync(view, streams, cancellationToken);
        if (!tails.IsDone) return tails.Status;
        var answer = HandOverAsync(view, tails.Value, cancellationToken);
        sent?.SetResult();
        return await answer;
    }

    private async Task<Status> HandOverAsync(EpochView view, ImmutableArray<StreamTail> tails, CancellationToken cancellationToken)
    {
        ClientTelemetry.HandOvers.Add(tails.Length);
        return (await core.CallSequencerAsync(view, new LoadStreamsRequest(view.Epoch, tails), cancellationToken)).Status;
    }

    /// <summary>The newest positions of the streams below the epoch's start, in the streams' order.</summary>
    public async ValueTask<Attempt<ImmutableArray<StreamTail>>> GatherAsync(
        EpochView view, ImmutableArray<StreamId> streams, CancellationToken cancellationToken)
    {
        var request = new StreamTailsRequest(view.Epoch, streams);
        var sources = Sources(view.Projection);
        var answers = await Task.WhenAll(sources.Select(u => core.CallUnitAsync(view, u, request, cancellationToken).AsTask()));
        var damaged = new List<NodeId>();
        for (var i = 0; i < answers.Length; i++)
        {
            if (!answers[i].IsOk) return answers[i].Status;
            if (!answers[i].Complete) damaged.Add(sources[i]);
        }

        if (damaged.Count == 0) return Merge(streams, answers);
        var behind = await AskBehindAsync(view, request, damaged, cancellationToken);
        return behind.IsDone ? Merge(streams, answers.Concat(behind.Value)) : behind.Status;
    }

    internal static ImmutableArray<StreamTail> Merge(ImmutableArray<StreamId> streams, IEnumerable<StreamTailsResponse> answers)
    {
        var newest = new Dictionary<StreamId, List<LogPosition>>();
        foreach (var stream in streams) newest[stream] = [];
        foreach (var answer in answers)
        {
            foreach (var tail in answer.Tails)
            {
                if (newest.TryGetValue(tail.Stream, out var positions)) positions.AddRange(tail.Positions);
            }
        }

        var merged = ImmutableArray.CreateBuilder<StreamTail>(streams.Length);
        foreach (var stream in streams) merged.Add(new StreamTail(stream, Newest(newest[stream])));
        return merged.MoveToImmutable();
    }

    /// <summary>
    /// A chain's first full replica alone surely has every entry that is, or will be completed to be, in the log. What its damaged headers hide is
    /// no longer a source of copies, so it is in the log only if a full replica behind it has it: the lists of the two together, the second one
    /// complete, lack nothing.
    /// </summary>
    private async ValueTask<Attempt<List<StreamTailsResponse>>> AskBehindAsync(
        EpochView view, StreamTailsRequest request, List<NodeId> damaged, CancellationToken cancellationToken)
    {
        List<StreamTailsResponse> answers = [];
        var complete = new Dictionary<NodeId, bool>();
        foreach (var chain in view.Projection.Segments.SelectMany(s => s.Chains).Where(c => damaged.Contains(c.Head)))
        {
            var made = false;
            for (var i = 1; i < chain.FullCount && !made; i++)
            {
                var unit = chain.Replicas[i].Unit;
                if (!complete.TryGetValue(unit, out made))
                {
                    var answer = await core.CallUnitAsync(view, unit, request, cancellationToken);
                    if (!answer.IsOk) return answer.Status;
                    answers.Add(answer);
                    complete[unit] = made = answer.Complete;
                }
            }

            if (!made) throw new TransportException($"Damaged headers at every replica of a chain, {chain.Head} first, may hide entries of a stream.", outcomeUnknown: false);
        }

        return answers;
    }

    /// <summary>
    /// The first full replica of every chain of every segment, each once; also where all is trimmed, for a stream that had its entries there is not one that
    /// never had any (R22).
    /// </summary>
    internal static List<NodeId> Sources(Projection projection)
    {
        List<NodeId> sources = [];
        foreach (var segment in projection.Segments)
        {
            foreach (var chain in segment.Chains)
            {
                var source = chain.Head;
#if PLANTED
                if (Planted.Is("tails-from-one-chain")) source = segment.Chains[0].Head;
#endif
                if (!sources.Contains(source)) sources.Add(source);
            }
        }

        return sources;
    }

    /// <summary>Who has streams to hand over in one epoch. A unit that keeps one of an older epoch waiting delays none of this.</summary>
    private sealed class Company(EpochView view, ImmutableArray<StreamTail> early)
    {
        public EpochView View { get; } = view;

        /// <summary>What was known early is on its way to the sequencer.</summary>
        public TaskCompletionSource Told { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        /// <summary>Their tails were known early.</summary>
        public bool HasTold(ImmutableArray<StreamId> streams)
        {
            foreach (var stream in streams)
            {
                if (!_told.Contains(stream)) return false;
            }

            return true;
        }

        // Never changed.
        private readonly HashSet<StreamId> _told = SetOf(early);

        private static HashSet<StreamId> SetOf(ImmutableArray<StreamTail> tails)
        {
            var set = new HashSet<StreamId>(tails.Length);
            foreach (var tail in tails) set.Add(tail.Stream);
            return set;
        }

        public Party? Waiting { get; set; }

        public bool IsUnderWay { get; set; }
    }

    private sealed class Party
    {
        public List<StreamId> Streams { get; } = [];

        public int Callers { get; set; }

        public TaskCompletionSource Sent { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource<Status> Done { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }

    internal static ImmutableArray<LogPosition> Newest(List<LogPosition> positions)
    {
        positions.Sort(static (a, b) => b.CompareTo(a));
        var result = ImmutableArray.CreateBuilder<LogPosition>(StreamHeader.MaxBackpointers);
        foreach (var position in positions)
        {
            if (result.Count == StreamHeader.MaxBackpointers) break;
            if (result.Count == 0 || result[^1] != position) result.Add(position);
        }

        return result.DrainToImmutable();
    }
}
