using System.Globalization;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using System.Text;

namespace Corfu.Hosting;

/// <summary>Tells systemd what a service does (sd_notify): one datagram for each change, to the socket that the service
/// manager names. Without one nothing is told.</summary>
internal static partial class ServiceManager
{
    private const int ClockMonotonic = 1;

    /// <param name="state">As <c>READY=1</c>; several lines are several assignments.</param>
    public static void Tell(string state)
    {
        if (Environment.GetEnvironmentVariable("NOTIFY_SOCKET") is not { Length: > 0 } path) return;
        try
        {
            using var socket = new Socket(AddressFamily.Unix, SocketType.Dgram, ProtocolType.Unspecified);
            // A name that begins with @ is none in the file system.
            socket.Connect(new UnixDomainSocketEndPoint(path[0] == '@' ? '\0' + path[1..] : path));
            socket.Send(Encoding.UTF8.GetBytes(state));
        }
        catch (SocketException)
        {
            // The service manager waits until its own time-out, and says so.
        }
    }

    /// <summary>The state of a service that takes its configuration anew (<c>Type=notify-reload</c>).</summary>
    public static string Reloading()
    {
        var now = new TimeSpec();
        if (OperatingSystem.IsLinux()) _ = ClockGetTime(ClockMonotonic, ref now);
        var microseconds = (now.Seconds * 1_000_000) + (now.Nanoseconds / 1_000);
        return string.Create(CultureInfo.InvariantCulture, $"RELOADING=1\nMONOTONIC_USEC={microseconds}");
    }

    [LibraryImport("libc", EntryPoint = "clock_gettime")]
    private static partial int ClockGetTime(int clock, ref TimeSpec time);

    [StructLayout(LayoutKind.Sequential)]
    private struct TimeSpec
    {
        public nint Seconds;
        public nint Nanoseconds;
    }
}
