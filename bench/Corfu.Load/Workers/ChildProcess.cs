using System.Diagnostics;
using Corfu.Hosting;

namespace Corfu.Load;

/// <summary>This program again, with pipes; a child ends when its standard input does, so none is left behind by a
/// kill.</summary>
internal static class ChildProcess
{
    private const int PatienceMilliseconds = 5000;

    public static Process Start(params ReadOnlySpan<string> arguments)
    {
        var self = NodeCommandLine.Self(arguments);
        return Process.Start(new ProcessStartInfo(self.Program, self.Arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true
        })!;
    }

    public static void Stop(Process process)
    {
        process.StandardInput.Close();
        if (!process.WaitForExit(PatienceMilliseconds)) process.Kill();
        process.Dispose();
    }
}
