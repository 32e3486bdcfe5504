using Google.Protobuf;
using Microsoft.AspNetCore.Connections;
using NamenodeSample.Hdfs.Wire;
using ConnectionContext = Microsoft.AspNetCore.Connections.ConnectionContext;

namespace NamenodeSample.Hdfs;

/// <summary>A connection of Hadoop RPC. Calls are answered one after the other, in their order.</summary>
internal sealed class RpcConnection(NamenodeCalls calls, RpcLimits limits, TextWriter log) : ConnectionHandler
{
    private const int ContextCall = -3;
    private const int PingCall = -4;
    private const int NoCall = -1;

    private const int MaxLogCharacters = 300;

    // Hadoop's have 16.
    private const int MaxClientBytes = 32;

    public override async Task OnConnectedAsync(ConnectionContext connection)
    {
        // Not with ConnectionClosed: a client that has sent all still waits for its answers.
        using var idle = new CancellationTokenSource(limits.Begin);
        try
        {
            await ServeAsync(connection, idle);
        }
        catch (RpcException e)
        {
            await TellAsync(connection, e.Message);
        }
        catch (OperationCanceledException) when (idle.IsCancellationRequested)
        {
            await TellAsync(connection, "ended, after too long without a whole call or answer");
            // A client that does not read keeps its socket otherwise.
            connection.Abort();
        }
        catch (UnknownOutcomeException e)
        {
            // The client gets no answer, since the outcome is unknown.
            await TellAsync(connection, e.Message);
            connection.Abort();
        }
        catch (Exception e) when (e is IOException or ConnectionAbortedException)
        {
            // The client is gone, or the namenode ends.
        }
        catch (Exception e)
        {
            await TellAsync(connection, $"a call has failed: {e.GetType().Name}: {e.Message}");
            connection.Abort();
        }
    }

    // A client chooses the text: it must not look like lines of its own.
    private Task TellAsync(ConnectionContext connection, string text)
    {
        string line = string.Concat(text.Take(MaxLogCharacters).Select(static c => char.IsControl(c) ? '?' : c));
        return log.WriteLineAsync($"{connection.RemoteEndPoint}: {line}");
    }

    private async Task ServeAsync(ConnectionContext connection, CancellationTokenSource idle)
    {
        if (!await BeginAsync(connection, idle.Token)) return;
        var user = "";
        while (await RpcFrame.ReadAsync(connection.Transport.Input, idle.Token) is { } frame)
        {
            idle.CancelAfter(limits.Idle);
            RequestHeader header = RpcFrame.Parse<RequestHeader>(frame);
            switch (header.CallId)
            {
                case ContextCall:
                    user = RpcFrame.Parse<Wire.ConnectionContext>(frame).User?.Effective ?? "";
                    break;
                case PingCall:
                    break;
                case >= 0:
                    await connection.Transport.Output.WriteAsync(
                        await AnswerAsync(header, frame, user, idle.Token), idle.Token);
                    break;
                default:
                    throw new RpcException($"call {header.CallId} is not known");
            }
        }
    }

    /// <returns>False: the client has left.</returns>
    /// <exception cref="RpcException">The client speaks another protocol, version or authentication.</exception>
    private static async Task<bool> BeginAsync(ConnectionContext connection, CancellationToken cancellationToken)
    {
        byte[]? preamble = await RpcFrame.ReadAsync(
            connection.Transport.Input, RpcFrame.PreambleBytes, cancellationToken);
        if (preamble is null) return false;
        if (!preamble.AsSpan().StartsWith("hrpc"u8)) throw new RpcException("this is no Hadoop RPC");
        Failure? failure = (preamble[4], preamble[6]) switch
        {
            (RpcFrame.Version, 0) => null,
            (RpcFrame.Version, _) => new Failure(
                Failure.AccessControl, "SIMPLE authentication is enabled, and no other", ErrorCode.Unauthorized),
            var (version, _) => new Failure(
                Failure.VersionMismatch, $"Version {RpcFrame.Version} is served, not {version}",
                ErrorCode.VersionMismatch),
        };
        if (failure is null) return true;
        await connection.Transport.Output.WriteAsync(
            RpcFrame.Write(failure.ToHeader(NoCall, ByteString.Empty, Status.Fatal)), cancellationToken);
        throw new RpcException(failure.Message);
    }

    private async Task<byte[]> AnswerAsync(
        RequestHeader header, CodedInputStream frame, string user, CancellationToken cancellationToken)
    {
        CallHeader call = RpcFrame.Parse<CallHeader>(frame);
        if (header.ClientId.Length > MaxClientBytes)
            throw new RpcException(
                $"a client's id has {header.ClientId.Length} bytes, and {MaxClientBytes} are allowed");
        // A client without an id cannot be told from others like it: none of its calls is one that was sent before.
        string client = header.ClientId.IsEmpty
            ? $"{Guid.NewGuid():N}"
            : Convert.ToHexStringLower(header.ClientId.Span);
        try
        {
            IMessage response = await calls.AnswerAsync(
                call, frame, new Caller(user, $"{client}/{header.CallId}/{call.Method}"),
                cancellationToken);
            var success = new ResponseHeader
            {
                CallId = (uint)header.CallId,
                Status = Status.Success,
                ServerVersion = RpcFrame.Version,
                ClientId = header.ClientId,
            };
            return RpcFrame.Write(success, response);
        }
        catch (FailureException e)
        {
            return RpcFrame.Write(e.Failure.ToHeader(header.CallId, header.ClientId, Status.Error));
        }
    }
}

/// <summary>Bounds of connections.</summary>
/// <param name="Begin">Until the first whole frame: a silent connection takes another client's place.</param>
/// <param name="Idle">Between frames. Clients send a ping or a renewal of their leases each minute, at least.</param>
internal sealed record RpcLimits(TimeSpan Begin, TimeSpan Idle)
{
    public static RpcLimits Usual { get; } = new(TimeSpan.FromSeconds(10), TimeSpan.FromMinutes(5));
}

/// <summary>A call's user, and the call's name among all calls: sent again, it has the same name.</summary>
internal sealed record Caller(string User, string Call);
