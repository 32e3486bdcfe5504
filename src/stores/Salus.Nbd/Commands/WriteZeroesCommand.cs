using Salus.Nbd.Transmission;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Commands;

/// <summary>WRITE_ZEROES: whole blocks become empty, and parts of blocks are written as zeros. With NO_HOLE all is
/// written as zeros, which is no faster than a write of that size.</summary>
internal static class WriteZeroesCommand
{
    public static ValueTask ExecuteAsync(NbdRequest request, ExportView export)
    {
        var keepsSpace = request.Header.Flags.HasFlag(CommandFlags.NoHole);
        if (keepsSpace && request.Header.Flags.HasFlag(CommandFlags.FastZero))
        {
            request.Fail(NbdError.NotSupported, "zeros that keep their space are written, which is not fast");
            return ValueTask.CompletedTask;
        }

        if (request.Range.Before > 0 || request.Range.After > 0)
        {
            request.Rent(2 * export.BlockSize);
            request.Blocks.Span.Clear();
        }

        request.Write.PrepareZeros(request.Range, request.Blocks, export.BlockSize, keepsSpace, request.IsForced);
        return export.Writes.PlaceAsync(request.Write);
    }
}
