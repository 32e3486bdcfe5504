using System.Net;
using System.Net.Sockets;
using Corfu.Protocol;

namespace Corfu.TestKit;

/// <summary>
/// Ports of the loopback address for servers under test. A port that was given belongs to this process until it ends,
/// whether something listens there or not: a node that is stopped or killed finds its port again.
/// </summary>
public static class TestPorts
{
    // Below the range of clusters that choose ports themselves, and below that of outgoing connections.
    private const int First = 10_000;
    private const int Last = 19_999;
    private const int MostTries = 10_000;

    private static readonly string s_folder = Path.Combine(Path.GetTempPath(), "corfu-test-ports");

    // Locks of files, one for each port: the system releases them when this process ends, however it ends.
    private static readonly List<FileStream> s_held = [];

    /// <summary>The first of as many consecutive ports.</summary>
    public static int Take(int count = 1)
    {
        Directory.CreateDirectory(s_folder);
        for (var tries = 0; tries < MostTries; tries++)
        {
            // From a random start, so that test processes rarely meet.
            var first = Random.Shared.Next(First, Last + 2 - count);
            if (TryHold(first, count)) return first;
        }

        throw new InvalidOperationException(
            $"There are no {count} ports in a row between {First} and {Last} that no process uses.");
    }

    /// <summary>An endpoint with a port of its own.</summary>
    public static NodeEndpoint Endpoint() => new("127.0.0.1", Take());

    /// <summary>As <see cref="Endpoint"/>, in words.</summary>
    public static string Address() => Endpoint().ToString();

    private static bool TryHold(int first, int count)
    {
        var held = new List<FileStream>(count);
        for (var port = first; port < first + count; port++)
        {
            if (TryLock(port) is { } file) held.Add(file);
            if (held.Count == port - first + 1 && IsFree(port)) continue;
            foreach (var taken in held) taken.Dispose();
            return false;
        }

        lock (s_held) s_held.AddRange(held);
        return true;
    }

    private static FileStream? TryLock(int port)
    {
        try
        {
            return new FileStream(Path.Combine(s_folder, $"{port}"), FileMode.OpenOrCreate, FileAccess.ReadWrite,
                FileShare.None);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The port is another process's, or another user's.
            return null;
        }
    }

    private static bool IsFree(int port)
    {
        try
        {
            using var listener = new TcpListener(IPAddress.Loopback, port);
            listener.Start();
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
