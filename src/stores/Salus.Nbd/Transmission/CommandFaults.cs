using Salus.Nbd.Wire;

namespace Salus.Nbd.Transmission;

/// <summary>Turns what a volume throws into the protocol's errors. The log gets the first of each kind from a
/// connection: a full volume refuses many writes.</summary>
internal sealed class CommandFaults(string peer, ExportView export, ILogger logger)
{
    // A bit for each kind that the log has.
    private int _logged;

    public void Tell(NbdRequest request, Exception error, Exports.MountedVolume mounted)
    {
        if (error is VolumeException fault)
        {
            request.Fail(ErrorOf(fault.Fault), fault.Message);
            if (fault.Block is { } block)
                request.ErrorOffset = Math.Max(request.Header.Offset, (ulong)block * (ulong)export.BlockSize);
            if (fault.Fault is VolumeFault.LeaseLost or VolumeFault.WritesLost) mounted.Lose();
            var bit = 1 << (int)fault.Fault;
            if ((Interlocked.Or(ref _logged, bit) & bit) == 0)
                NbdLog.CommandRefused(logger, peer, export.Name, fault.Message);
        }
        else
        {
            // A cancelled read has no client that could see its error.
            request.Fail(NbdError.InputOutput, "the server has failed; see its log");
            if (error is not OperationCanceledException) NbdLog.CommandFailed(logger, export.Name, error);
        }
    }

    private static NbdError ErrorOf(VolumeFault fault) => fault switch
    {
        VolumeFault.ReadOnly => NbdError.NotPermitted,
        VolumeFault.OutOfSpace => NbdError.NoSpace,
        VolumeFault.LeaseLost => NbdError.Shutdown,
        _ => NbdError.InputOutput,
    };
}
