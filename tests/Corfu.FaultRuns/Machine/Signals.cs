using System.Runtime.InteropServices;

namespace Corfu.FaultRuns.Machine;

internal static partial class Signals
{
    private const int Sigkill = 9;
    private const int Sigcont = 18;
    private const int Sigstop = 19;

    public static void Kill(int processId) => _ = Send(processId, Sigkill);

    public static void Stop(int processId) => _ = Send(processId, Sigstop);

    public static void Continue(int processId) => _ = Send(processId, Sigcont);

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Send(int processId, int signal);
}
