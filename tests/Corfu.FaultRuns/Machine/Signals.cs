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

    /// <summary>Whether all threads of a process are stopped, as soon as the system has done so.</summary>
    public static bool IsStopped(int processId)
    {
        for (var attempt = 0; attempt < 100; attempt++)
        {
            var line = File.ReadAllText($"/proc/{processId}/stat");
            if (line[(line.LastIndexOf(')') + 2)..].StartsWith('T')) return true;
            Thread.Sleep(10);
        }

        return false;
    }

    [LibraryImport("libc", EntryPoint = "kill")]
    private static partial int Send(int processId, int signal);
}
