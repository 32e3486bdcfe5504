using System.Collections.Immutable;
using Corfu.Protocol;

namespace Corfu.Client.Tests.Cluster;

/// <summary>
/// A unit whose disk damages the pages of some positions: reads and writes there are answered as Corrupt, until the page is repaired. Lost
/// pages are answered as unwritten, until they are completed.
/// </summary>
internal sealed class Damage
{
    private readonly Dictionary<(NodeId Unit, LogPosition Position), PageState> _pages = [];

    public int Left => _pages.Count;

    public void Add(NodeAddress unit, LogPosition position, PageState state = PageState.Corrupt) => _pages[(unit.Id, position)] = state;

    public Response Rewrite(NodeAddress to, Request request, Response response)
    {
        lock (_pages)
        {
            switch (request)
            {
                case EntryRequest write when _pages.TryGetValue((to.Id, EntryCodec.PeekPosition(write.Entry.Span)), out var state):
                    if (state == PageState.Corrupt) return request.Fail(Status.Corrupt, response.Epoch);
                    _pages.Remove((to.Id, EntryCodec.PeekPosition(write.Entry.Span)));
                    return request.Fail(Status.Ok, response.Epoch);
                case ReadRequest when response is ReadResponse { IsOk: true } read:
                    return read with { Pages = [.. read.Pages.Select(p => Page(to, p))] };
                default:
                    return response;
            }
        }
    }

    private PageResult Page(NodeAddress unit, PageResult page) => _pages.TryGetValue((unit.Id, page.Position), out var state)
        ? new PageResult(page.Position, state, false, state == PageState.Corrupt ? page.Origin : default, default)
        : page;
}
