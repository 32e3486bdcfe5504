using Salus.Nbd.Transmission;

namespace Salus.Nbd.Commands;

/// <summary>TRIM: whole blocks become empty, in order with the writes (S23). Parts of blocks stay.</summary>
internal static class TrimCommand
{
    public static ValueTask ExecuteAsync(NbdRequest request, ExportView export)
    {
        var whole = request.Range.Inside();
        if (whole.Blocks == 0) return ValueTask.CompletedTask;
        request.Write.PrepareClear(whole, request.IsForced);
        return export.Writes.PlaceAsync(request.Write);
    }
}
