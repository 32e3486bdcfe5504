using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client.Tests.Cluster;

/// <summary>
/// A unit whose disk damages the pages of some positions: reads and writes there are answered as Corrupt, until the
/// page is repaired. Lost pages are answered as unwritten, until they are completed.
/// </summary>
internal sealed class Damage
{
    private readonly Dictionary<(NodeId Unit, LogPosition Position), PageState> _pages = [];

    private readonly TaskCompletionSource _healed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Completes when no damage is left.</summary>
    public Task Healed => _healed.Task;

    public void Add(NodeAddress unit, LogPosition position, PageState state = PageState.Corrupt) =>
        _pages[(unit.Id, position)] = state;

    public Response Rewrite(NodeAddress to, Request request, Response response)
    {
        lock (_pages)
        {
            switch (request)
            {
                case EntryRequest write
                    when _pages.TryGetValue((to.Id, EntryCodec.PeekPosition(write.Entry.Span)), out var state):
                    if (state == PageState.Corrupt) return request.Fail(Status.Corrupt, response.Epoch);
                    Remove(to, EntryCodec.PeekPosition(write.Entry.Span));
                    return request.Fail(Status.Ok, response.Epoch);
                case RepairRequest repair
                    when _pages.TryGetValue((to.Id, EntryCodec.PeekPosition(repair.Entry.Span)), out var state):
                    Remove(to, EntryCodec.PeekPosition(repair.Entry.Span));
                    return request.Fail(state == PageState.Corrupt ? Status.Ok : Status.Unwritten, response.Epoch);
                case ReadRequest when response is ReadResponse { IsOk: true } read:
                    return read with { Pages = [.. read.Pages.Select(p => Page(to, p))] };
                default:
                    return response;
            }
        }
    }

    private void Remove(NodeAddress unit, LogPosition position)
    {
        _pages.Remove((unit.Id, position));
        if (_pages.Count == 0) _healed.TrySetResult();
    }

    private PageResult Page(NodeAddress unit, PageResult page) =>
        _pages.TryGetValue((unit.Id, page.Position), out var state)
        ? new PageResult(page.Position, state, false, state == PageState.Corrupt ? page.Origin : default, default)
        : page;
}
