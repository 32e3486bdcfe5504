using Corfu.Protocol;
using Corfu.Transport;

namespace Corfu.Client;

internal sealed partial class Appender
{
    private bool _rehearsed;

    /// <summary>
    /// After the first append: everything that a failure would ask for, once, with requests that change nothing where the entry is at every replica. Then
    /// the ways to all nodes are open and the code is compiled before somebody waits for it.
    /// </summary>
    private async Task RehearseAsync(TokenGrant grant, EntryOrigin origin, byte[] bytes)
    {
        await Task.Yield();
        var (view, position, headers) = grant;
        var closed = core.Closed;
        var chain = view.Projection.ChainOf(position);
        await core.Layout.PeekAsync(view.Projection, closed);
        await core.Refresher.NewerThanAsync(new Epoch(view.Epoch.Value - 1), core.Patience("A rehearsal", closed), closed);

        // Within its epoch a writer may send its entry as often as it likes.
        await PersistAsync(view, view.Projection.AddressOf(chain.Head), new WriteRequest(view.Epoch, bytes), "It is a rehearsal.", closed);
        var past = grant with { View = new EpochView(view.Projection, view.Grants) };
        await FinishAsync(past, origin, bytes, closed);
        core.Refresher.Adopt(view.Projection);
        core.Refresher.LetGo(view.Projection, view.Projection);
        var junk = new LogEntry(position, core.NextOrigin(), EntryKind.Junk, core.Time.GetUtcNow(), [], default);
        if (core.View == view) await chains.FillAsync(view, chain, junk, closed);
        if (core.View == view && headers.Length > 0)
        {
            await core.HandOver.RunAsync(view, [headers[0].Stream], closed);
            await core.EarlyTails.RehearseAsync(view, headers[0].Stream);
            // Nothing is known early here: it hands nothing over.
            core.HandOver.Begin(past.View);
        }

        await core.Standbys.ReachAsync(view, closed);
        foreach (var unit in view.Projection.Units) await ConfirmAsync(view, unit, closed);
        if (core.View == view) await core.InstallAndCallAsync(view, view.Projection.AddressOf(chain.Head), new ConfirmEpochRequest(view.Epoch), closed);
        core.Transport.Drop(new NodeAddress(new NodeId(core.Entropy.NewGuid()), view.Projection.Sequencer.Endpoint));
    }

    // The way to a unit is opened, and an answer that does not come is thrown and caught: the first exception of a process takes milliseconds.
    private async ValueTask ConfirmAsync(EpochView view, NodeAddress unit, CancellationToken cancellationToken)
    {
        try
        {
            var answer = await core.Transport.CallAsync(unit, new ConfirmEpochRequest(view.Epoch), cancellationToken);
            if (answer.IsOk) throw new TransportException("It is a rehearsal.", outcomeUnknown: false);
        }
        catch (TransportException)
        {
            // As meant, or the unit is gone, and others find that out.
        }
    }
}
