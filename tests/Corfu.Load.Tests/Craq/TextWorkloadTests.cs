using System.Globalization;
using System.Net;
using System.Net.Sockets;

namespace Corfu.Load.Tests;

/// <summary>Connections of callers of a text protocol.</summary>
public sealed class TextWorkloadTests
{
    [Theory]
    [InlineData(true, 2, 5)]
    [InlineData(false, 1, 1)]
    public async Task Larger_round_opens_the_connections_that_are_missing(bool own, int first, int second)
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var accepted = 0;
        var serving = ServeAsync(listener, () => Interlocked.Increment(ref accepted));
        var target = string.Create(CultureInfo.InvariantCulture, $"redis/{listener.LocalEndpoint}");
        await using (var workload = new TextWorkload(WorkloadKind.TextSet, target, own))
        {
            await CallAsync(workload, callers: 2);
            Assert.Equal(first, Volatile.Read(ref accepted));
            await CallAsync(workload, callers: 5);
            Assert.Equal(second, Volatile.Read(ref accepted));
            await CallAsync(workload, callers: 2);
            Assert.Equal(second, Volatile.Read(ref accepted));
        }

        listener.Stop();
        await serving;
    }

    private static async Task CallAsync(TextWorkload workload, int callers)
    {
        var call = workload.Prepare(callers, size: 4);
        await Task.WhenAll(Enumerable.Range(0, callers).Select(caller => call(caller).AsTask()));
    }

    // Answers each request, which arrives whole, with Redis' OK.
    private static async Task ServeAsync(TcpListener listener, Action accepted)
    {
        try
        {
            while (true)
            {
                var client = await listener.AcceptTcpClientAsync();
                accepted();
                _ = AnswerAsync(client);
            }
        }
        catch (SocketException)
        {
            // The listener has stopped.
        }
    }

    private static async Task AnswerAsync(TcpClient client)
    {
        using var connection = client;
        var stream = client.GetStream();
        var buffer = new byte[4096];
        while (await stream.ReadAsync(buffer) is > 0 and var length)
        {
            var requests = buffer.AsSpan(0, length).Count((byte)'*');
            for (var i = 0; i < requests; i++) await stream.WriteAsync("+OK\r\n"u8.ToArray());
        }
    }
}
