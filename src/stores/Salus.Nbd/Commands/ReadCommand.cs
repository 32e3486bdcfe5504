using System.IO.Pipelines;
using Salus.Nbd.Transmission;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Commands;

/// <summary>READ: whole blocks are read and verified before a byte of the reply leaves.</summary>
internal static class ReadCommand
{
    public static ValueTask ExecuteAsync(NbdRequest request, ExportView export, CancellationToken cancellationToken)
    {
        request.Rent(checked((int)(request.Range.Blocks * export.BlockSize)));
        var extents = export.IsStructured && !request.Header.Flags.HasFlag(CommandFlags.DontFragment)
            ? request.Extents
            : null;
        return export.Volume.ReadAsync(request.Range.First, request.Blocks, extents, cancellationToken);
    }

    public static ValueTask ReplyAsync(NbdRequest request, ExportView export, ReplyOutput output)
    {
        var header = request.Header;
        if (!export.IsStructured)
        {
            Replies.Simple(output.Writer, header.Cookie, request.Error);
            return request.Error == NbdError.None ? output.WriteAsync(DataOf(request)) : ValueTask.CompletedTask;
        }

        if (request.Error != NbdError.None)
        {
            Replies.Error(output.Writer, header.Cookie, request.Error, request.Reason, request.ErrorOffset);
            return ValueTask.CompletedTask;
        }

        if (request.Extents.Count > 0) return ReplyInExtentsAsync(request, export, output);
        Replies.Data(output.Writer, header.Cookie, isLast: true, header.Offset, (int)header.Length);
        return output.WriteAsync(DataOf(request));
    }

    // A chunk for each run of blocks, cut to the range of the request.
    private static async ValueTask ReplyInExtentsAsync(NbdRequest request, ExportView export, ReplyOutput output)
    {
        var (header, data) = (request.Header, DataOf(request));
        var skipped = (long)request.Range.Before;
        var sent = 0;
        for (var i = 0; i < request.Extents.Count; i++)
        {
            var extent = request.Extents[i];
            var length = (int)Math.Min(extent.Blocks * export.BlockSize - skipped, data.Length - sent);
            skipped = 0;
            var (isLast, offset) = (sent + length == data.Length, header.Offset + (ulong)sent);
            if (extent.IsEmpty)
            {
                Replies.Hole(output.Writer, header.Cookie, isLast, offset, (uint)length);
                await output.PauseAsync().ConfigureAwait(false);
            }
            else
            {
                Replies.Data(output.Writer, header.Cookie, isLast, offset, length);
                await output.WriteAsync(data.Slice(sent, length)).ConfigureAwait(false);
            }

            sent += length;
        }
    }

    private static ReadOnlyMemory<byte> DataOf(NbdRequest request) =>
        request.Blocks.Slice(request.Range.Before, (int)request.Header.Length);
}
