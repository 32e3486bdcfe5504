using Salus.Nbd.Transmission;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Commands;

/// <summary>BLOCK_STATUS: empty blocks are holes that read as zeros.</summary>
internal static class BlockStatusCommand
{
    /// <summary>The id of base:allocation, the only context.</summary>
    public const uint AllocationId = 1;

    // HOLE and ZERO.
    private const uint Empty = 3;

    // Enough for one reply: the client asks again behind them.
    private const int MaxDescriptors = 4096;

    public static ValueTask ExecuteAsync(
        NbdRequest request, ExportView export, CancellationToken cancellationToken) =>
        export.Volume.DescribeAsync(request.Range.First, request.Range.Blocks,
            request.Header.Flags.HasFlag(CommandFlags.RequestOne) ? 1 : MaxDescriptors, request.Extents,
            cancellationToken);

    public static ValueTask ReplyAsync(NbdRequest request, ExportView export, ReplyOutput output)
    {
        var header = request.Header;
        if (request.Error != NbdError.None)
        {
            Replies.Error(output.Writer, header.Cookie, request.Error, request.Reason, offset: null);
            return ValueTask.CompletedTask;
        }

        var count = header.Flags.HasFlag(CommandFlags.RequestOne) ? 1 : Math.Min(request.Extents.Count, MaxDescriptors);
        Replies.BlockStatus(output.Writer, header.Cookie, AllocationId, count);
        var (left, skipped) = ((long)header.Length, (long)request.Range.Before);
        for (var i = 0; i < count; i++)
        {
            var extent = request.Extents[i];
            var length = Math.Min(extent.Blocks * export.BlockSize - skipped, left);
            skipped = 0;
            left -= length;
            Replies.Descriptor(output.Writer, (uint)length, extent.IsEmpty ? Empty : 0);
        }

        return output.PauseAsync();
    }
}
