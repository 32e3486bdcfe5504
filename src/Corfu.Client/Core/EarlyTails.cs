using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client;

/// <summary>
/// What the next epoch's sequencer will have to know of the streams that appends wait with, asked for while this one's is silent: the units answer once they are
/// sealed, when nothing can be added any more, and the lists are here before there is anybody to hand them to. What is missing then is asked for in the next epoch,
/// as ever (<see cref="StreamHandOver"/>).
/// </summary>
internal sealed class EarlyTails(ClientCore core)
{
    private readonly Lock _gate = new();

    // Guarded by _gate, with all that it holds: about the epoch that was in trouble last.
    private Inquiry? _inquiry;

    /// <summary>Returns at once. Streams named within <see cref="CorfuClientOptions.RefreshInterval"/> are asked for together, each once as long as units may answer.</summary>
    public void Ask(EpochView view, ImmutableArray<StreamId> streams)
    {
        // Who hears late of what became of an older epoch must not end the inquiry about a newer one.
        if (core.View != view) return;
        Inquiry inquiry;
        lock (_gate)
        {
            if (_inquiry?.View != view) _inquiry = new Inquiry(view);
            inquiry = _inquiry;
            foreach (var stream in streams)
            {
                if (inquiry.Asked.Count < MessageLimits.MaxItems && inquiry.Asked.Add(stream)) inquiry.Gathering.Add(stream);
            }

            if (inquiry.Gathering.Count == 0 || inquiry.IsGathering) return;
            inquiry.IsGathering = true;
        }

        AskAllAsync(inquiry).Abandon();
    }

    /// <summary>The tails of all streams of which every source of the epoch has told; none if it is not the one after that which was asked about.</summary>
    public ImmutableArray<StreamTail> Take(EpochView view)
    {
        lock (_gate)
        {
            if (_inquiry is not { } inquiry || inquiry.View.Epoch.Next != view.Epoch) return [];
            // In a mirror lists below the start grow until its copier has been there.
            if (view.Projection.IsMirror) return [];
            // The lists are of the units that were sources then: another one may have what they lack, and one that is none any more has what was half written to it.
            var sources = StreamHandOver.Sources(view.Projection);
            if (sources.Count != inquiry.Sources.Count) return [];
            foreach (var unit in sources)
            {
                if (!inquiry.Sources.Contains(unit)) return [];
            }

            var tails = ImmutableArray.CreateBuilder<StreamTail>(inquiry.Tails.Count);
            foreach (var tail in inquiry.Tails)
            {
                // A unit whose seal this epoch's proposer did not wait for may have been sent what nobody will ever see.
                if (tail.Positions.IsEmpty || tail.Positions[0] < view.Projection.Start) tails.Add(tail);
            }

            return tails.DrainToImmutable();
        }
    }

    private async Task AskAllAsync(Inquiry inquiry)
    {
        await Task.Delay(core.Options.RefreshInterval, core.Time, core.Closed);
        ImmutableArray<StreamId> streams;
        lock (_gate)
        {
            streams = [.. inquiry.Gathering];
            inquiry.Gathering.Clear();
            inquiry.IsGathering = false;
        }

        var answers = await AskAsync(inquiry, new SealedTailsRequest(inquiry.View.Epoch, streams));
        lock (_gate)
        {
            if (Array.TrueForAll(answers, static answer => answer is { IsOk: true, Complete: true })) inquiry.Tails.AddRange(StreamHandOver.Merge(streams, answers!));
            else inquiry.Asked.ExceptWith(streams);
        }
    }

    private async Task<StreamTailsResponse?[]> AskAsync(Inquiry inquiry, SealedTailsRequest request)
    {
        // An answer that nobody waits for any more must not keep a dead connection from being noticed.
        using var timeout = new CancellationTokenSource(core.Options.Layout.RoundTimeout, core.Time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(timeout.Token, core.Closed);
        return await Task.WhenAll(inquiry.Sources.Select(unit => AskAsync(inquiry.View.Projection.AddressOf(unit), request, either.Token)));
    }

    /// <summary>Null: no answer.</summary>
    private async Task<StreamTailsResponse?> AskAsync(NodeAddress unit, SealedTailsRequest request, CancellationToken cancellationToken)
    {
        try
        {
            return await core.Transport.CallAsync(unit, request, cancellationToken);
        }
        catch (Exception e) when (e is TransportException or OperationCanceledException)
        {
            return null;
        }
    }

    private sealed class Inquiry(EpochView view)
    {
        public EpochView View { get; } = view;

        public List<NodeId> Sources { get; } = StreamHandOver.Sources(view.Projection);

        public HashSet<StreamId> Asked { get; } = [];

        public List<StreamId> Gathering { get; } = [];

        public bool IsGathering { get; set; }

        public List<StreamTail> Tails { get; } = [];
    }
}
