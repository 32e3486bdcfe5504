using Salus.Nbd.Transmission;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Commands;

/// <summary>Commands by their codes.</summary>
internal static class CommandTable
{
    /// <summary>Gives the command its place within this call, and ends with what the volume answers.</summary>
    public static ValueTask ExecuteAsync(
        NbdRequest request, ExportView export, CancellationToken cancellationToken) => request.Header.Code switch
        {
            CommandCode.Read => ReadCommand.ExecuteAsync(request, export, cancellationToken),
            CommandCode.Write => WriteCommand.ExecuteAsync(request, export),
            CommandCode.Flush => FlushCommand.ExecuteAsync(request, export),
            CommandCode.Trim => TrimCommand.ExecuteAsync(request, export),
            CommandCode.WriteZeroes => WriteZeroesCommand.ExecuteAsync(request, export),
            CommandCode.BlockStatus => BlockStatusCommand.ExecuteAsync(request, export, cancellationToken),
            // CACHE is a hint: blocks are verified again when they are read.
            _ => ValueTask.CompletedTask,
        };

    public static ValueTask ReplyAsync(NbdRequest request, ExportView export, ReplyOutput output)
    {
        var code = request.Header.Code;
        if (code == CommandCode.Read) return ReadCommand.ReplyAsync(request, export, output);
        if (code == CommandCode.BlockStatus && export.IsStructured)
            return BlockStatusCommand.ReplyAsync(request, export, output);
        Replies.Simple(output.Writer, request.Header.Cookie, request.Error);
        return ValueTask.CompletedTask;
    }
}
