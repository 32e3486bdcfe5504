using Salus.Nbd.Transmission;

namespace Salus.Nbd.Commands;

/// <summary>FLUSH: has its place among the writes, and covers those before it on all connections.</summary>
internal static class FlushCommand
{
    public static ValueTask ExecuteAsync(NbdRequest request, ExportView export)
    {
        request.Write.PrepareFlush();
        return export.Writes.PlaceAsync(request.Write);
    }
}
