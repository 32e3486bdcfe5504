using System.Net;
using System.Net.Sockets;

namespace Corfu.FaultRuns.Machine;

/// <summary>
/// Stands before a node's port. It delays what passes, each connection on its own, so that messages of different
/// connections overtake each other; stalls; or breaks connections. Told what to do on its input: <c>delay MIN MAX</c>
/// (ms), <c>break</c>, <c>clear</c>.
/// </summary>
internal sealed class DelayProxy(int port, IPEndPoint target)
{
    private readonly Lock _gate = new();
    private readonly List<Socket> _sockets = [];
    private volatile int _min;
    private volatile int _max;

    public static async Task<int> RunAsync(int port, string target)
    {
        var proxy = new DelayProxy(port, IPEndPoint.Parse(target));
        _ = proxy.ListenAsync();
        Console.WriteLine("ready");
        while (await Console.In.ReadLineAsync() is { } line)
        {
            var words = line.Split(' ');
            if (words[0] == "break") proxy.Break();
            proxy._min = words[0] == "delay" ? int.Parse(words[1]) : 0;
            proxy._max = words[0] == "delay" ? int.Parse(words[2]) : 0;
        }

        return 0;
    }

    private async Task ListenAsync()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Any, port));
        listener.Listen(64);
        while (true) _ = ServeAsync(await listener.AcceptAsync());
    }

    private async Task ServeAsync(Socket from)
    {
        using var to = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        using (from)
        {
            from.NoDelay = true;
            lock (_gate) _sockets.AddRange([from, to]);
            try
            {
                await to.ConnectAsync(target);
                await Task.WhenAny(PumpAsync(from, to), PumpAsync(to, from));
            }
            catch (SocketException)
            {
                // The node is down: so is the connection.
            }
            finally
            {
                lock (_gate) _sockets.RemoveAll(s => s == from || s == to);
            }
        }
    }

    private async Task PumpAsync(Socket from, Socket to)
    {
        var buffer = new byte[16384];
        try
        {
            while (await from.ReceiveAsync(buffer) is > 0 and var count)
            {
                if (_max > 0) await Task.Delay(Random.Shared.Next(_min, _max + 1));
                for (var sent = 0; sent < count;) sent += await to.SendAsync(buffer.AsMemory(sent, count - sent));
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // A side is gone, so the other one is closed.
        }
    }

    private void Break()
    {
        lock (_gate)
        {
            foreach (var socket in _sockets) socket.Close(0);
        }
    }
}
