using System.Collections.Immutable;

namespace Corfu.Protocol;

/// <summary>Per-page outcomes are in the pages; the status speaks of the request (sealed, failed...).</summary>
public sealed record ReadResponse(Status Status, Epoch Epoch, ImmutableArray<PageResult> Pages) : Response(Status, Epoch)
{
    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Int32(Pages.Length);
        foreach (var page in Pages) page.Write(ref w);
    }

    internal static ReadResponse Read(Status status, Epoch epoch, ref WireReader r)
    {
        if (status != Status.Ok) return new ReadResponse(status, epoch, []);
        var pages = ImmutableArray.CreateBuilder<PageResult>(r.Count(PageResult.SmallestSize, MessageLimits.MaxItems));
        for (var i = pages.Capacity; i > 0; i--) pages.Add(PageResult.Read(ref r));
        return new ReadResponse(status, epoch, pages.DrainToImmutable());
    }
}
