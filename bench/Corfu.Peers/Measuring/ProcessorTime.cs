using System.Diagnostics;

namespace Corfu.Peers;

/// <summary>Processor time that the servers and this process have used.</summary>
internal readonly record struct ProcessorTime(TimeSpan Servers, TimeSpan Client)
{
    public static ProcessorTime Of(IEnumerable<int> servers)
    {
        var total = TimeSpan.Zero;
        foreach (var id in servers)
        {
            using var process = Process.GetProcessById(id);
            total += process.TotalProcessorTime;
        }

        return new ProcessorTime(total, Environment.CpuUsage.TotalTime);
    }

    public static ProcessorTime operator -(ProcessorTime left, ProcessorTime right) =>
        new(left.Servers - right.Servers, left.Client - right.Client);
}
