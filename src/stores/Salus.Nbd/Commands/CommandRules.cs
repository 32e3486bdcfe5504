using Salus.Nbd.Transmission;
using Salus.Nbd.Wire;

namespace Salus.Nbd.Commands;

/// <summary>Rules that every command is held to before anything is done for it.</summary>
internal static class CommandRules
{
    /// <summary>Refuses a command that is not as the protocol has it.</summary>
    /// <returns>False: the request has its error.</returns>
    public static bool Check(NbdRequest request, ExportView export)
    {
        var header = request.Header;
        // FUA is allowed on all commands.
        if ((header.Flags & ~(CommandFlags.Fua | FlagsOf(header.Code, export))) != 0)
            return Refuse(request, NbdError.Invalid, $"{header.Code} does not know the flags {header.Flags}");
        if (header.Code == CommandCode.Flush)
        {
            return (header.Offset == 0 && header.Length == 0)
                || Refuse(request, NbdError.Invalid, "a flush has no range");
        }

        if (export.IsReadOnly && header.Code is CommandCode.Write or CommandCode.Trim or CommandCode.WriteZeroes)
            return Refuse(request, NbdError.NotPermitted, $"'{export.Name}' is read-only");
        if (header.Length == 0) return Refuse(request, NbdError.Invalid, "the range is empty");
        if (header.Offset > export.Size || header.Length > export.Size - header.Offset)
        {
            return Refuse(request,
                header.Code is CommandCode.Write or CommandCode.WriteZeroes ? NbdError.NoSpace : NbdError.Invalid,
                $"the range ends behind the {export.Size} bytes of '{export.Name}'");
        }

        if (header.Code is CommandCode.Read or CommandCode.Write && header.Length > NbdServerOptions.MaxRequest)
            return Refuse(request, NbdError.Invalid, $"a request has at most {NbdServerOptions.MaxRequest} bytes");
        if (header.Code == CommandCode.BlockStatus && !export.HasAllocation)
            return Refuse(request, NbdError.Invalid, "the client has not chosen base:allocation");
        return header.Code is >= CommandCode.Read and <= CommandCode.BlockStatus
            || Refuse(request, NbdError.Invalid, $"there is no command {(ushort)header.Code}");
    }

    private static CommandFlags FlagsOf(CommandCode code, ExportView export) => code switch
    {
        CommandCode.Read when export.IsStructured => CommandFlags.DontFragment,
        CommandCode.WriteZeroes => CommandFlags.NoHole | CommandFlags.FastZero,
        CommandCode.BlockStatus => CommandFlags.RequestOne,
        _ => CommandFlags.None,
    };

    private static bool Refuse(NbdRequest request, NbdError error, string reason)
    {
        request.Fail(error, reason);
        return false;
    }
}
