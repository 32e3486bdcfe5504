using Google.Protobuf;
using Microsoft.AspNetCore.Connections;
using NamenodeSample.Hdfs.Wire;
using ConnectionContext = Microsoft.AspNetCore.Connections.ConnectionContext;

namespace NamenodeSample.Hdfs;

/// <summary>A connection of Hadoop RPC. Calls are answered one after the other, in their order.</summary>
internal sealed class RpcConnection(NamenodeCalls calls, TextWriter log) : ConnectionHandler
{
    private const int ContextCall = -3;
    private const int PingCall = -4;
    private const int NoCall = -1;

    // Clients send a ping or a renewal of their leases each minute, at least.
    private static readonly TimeSpan s_idle = TimeSpan.FromMinutes(5);

    public override async Task OnConnectedAsync(ConnectionContext connection)
    {
        try
        {
            await ServeAsync(connection);
        }
        catch (RpcException e)
        {
            await log.WriteLineAsync($"{connection.RemoteEndPoint}: {e.Message}");
        }
        catch (OperationCanceledException)
        {
            await log.WriteLineAsync(
                $"{connection.RemoteEndPoint}: ended, after {s_idle.TotalMinutes:0} minutes without a call");
        }
        catch (UnknownOutcomeException e)
        {
            // Without an answer the client knows that it does not know.
            await log.WriteLineAsync($"{connection.RemoteEndPoint}: {e.Message}");
            connection.Abort();
        }
        catch (IOException)
        {
            // The client is gone.
        }
    }

    private async Task ServeAsync(ConnectionContext connection)
    {
        // Not with ConnectionClosed: a client that has sent all still waits for its answers.
        using var idle = new CancellationTokenSource(s_idle);
        if (!await BeginAsync(connection, idle.Token)) return;
        var user = "";
        while (await RpcFrame.ReadAsync(connection.Transport.Input, idle.Token) is { } frame)
        {
            idle.CancelAfter(s_idle);
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
        try
        {
            IMessage response = await calls.AnswerAsync(
                call, frame, new Caller(user, $"{Convert.ToHexStringLower(header.ClientId.Span)}/{header.CallId}"),
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

/// <summary>A call's user, and the call's name among all calls: sent again, it has the same name.</summary>
internal sealed record Caller(string User, string Call);
