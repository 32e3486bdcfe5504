using Salus.Nbd.Transmission;

namespace Salus.Nbd.Commands;

/// <summary>WRITE: has its place when its last byte has come; the reply follows what the volume acknowledges.</summary>
internal static class WriteCommand
{
    /// <summary>Memory for the payload, in its place among the blocks.</summary>
    public static Memory<byte> RentPayload(NbdRequest request, ExportView export)
    {
        request.Rent(checked((int)(request.Range.Blocks * export.BlockSize)));
        return request.Blocks.Slice(request.Range.Before, (int)request.Header.Length);
    }

    public static ValueTask ExecuteAsync(NbdRequest request, ExportView export)
    {
        request.Write.PrepareData(request.Range, request.Blocks, export.BlockSize, request.IsForced);
        return export.Writes.PlaceAsync(request.Write);
    }
}
