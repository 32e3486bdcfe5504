using System.Collections.Immutable;
using System.Net.Http;
using Corfu.Grpc;
using Corfu.Grpc.Protocol.V1;
using Corfu.Protocol;
using Corfu.Transport;
using global::Grpc.Core;
using global::Grpc.Net.Client;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Log = Corfu.Grpc.Protocol.Log.V1;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.FaultRuns.Permissions;

/// <summary>Each kind of peer calls every method of a front end behind TLS, over a connection that trusts any
/// server.</summary>
internal static class FrontEndCells
{
    /// <summary>The rights that the access file of the run grants to <see cref="Granted"/>.</summary>
    public const string Grants = """
        { "callers": { "granted": {
            "read": ["objects:x", "stream:x", "log"], "write": ["objects:x", "stream:x", "log"], "cluster": "read" } } }
        """;

    /// <summary>A caller with the rights of <see cref="Grants"/>.</summary>
    public const string Granted = "granted";

    private const string Denied = "DENIED";

    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(20);
    private static readonly Marshaller<byte[]> s_bytes = new(static bytes => bytes, static bytes => bytes);

    private static readonly ImmutableDictionary<string, MethodDescriptor> s_described = typeof(TypesReflection).Assembly
        .GetTypes().Select(static type => type.GetProperty("Descriptor")?.GetValue(null)).OfType<FileDescriptor>()
        .Distinct().SelectMany(static file => file.Services).SelectMany(static service => service.Methods)
        .ToImmutableDictionary(static method => $"{method.Service.FullName}/{method.Name}");

    /// <summary>Calls each method with a request that needs the right of its row.</summary>
    /// <param name="credentials">Null: the peer has no certificate.</param>
    /// <returns>yes or no, by method.</returns>
    public static async Task<ImmutableArray<(string Method, string Answer)>> AskAllAsync(
        string address, TlsCredentials? credentials, CancellationToken stop)
    {
        using var handler = new SocketsHttpHandler
        {
            SslOptions =
            {
                ClientCertificateContext = credentials?.Context,
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
            },
        };
        using var channel = GrpcChannel.ForAddress(address, new GrpcChannelOptions { HttpHandler = handler });
        var answers = ImmutableArray.CreateBuilder<(string, string)>();
        foreach (var row in MethodAccess.Rows)
            answers.Add((row.Method, await IsAnsweredAsync(channel, row.Method, stop) ? "yes" : "no"));
        return answers.DrainToImmutable();
    }

    private static async Task<bool> IsAnsweredAsync(GrpcChannel channel, string name, CancellationToken stop)
    {
        var place = name.IndexOf('/', StringComparison.Ordinal);

        // On the wire every kind of call is a stream of messages.
        var method = new Method<byte[], byte[]>(
            MethodType.DuplexStreaming, name[..place], name[(place + 1)..], s_bytes, s_bytes);
        var options = new CallOptions(deadline: DateTime.UtcNow + s_patience, cancellationToken: stop);
        using var call = channel.CreateCallInvoker().AsyncDuplexStreamingCall(method, null, options);
        try
        {
            await call.RequestStream.WriteAsync(RequestOf(name));
            await call.RequestStream.CompleteAsync();
        }
        catch (Exception e) when (e is RpcException or InvalidOperationException or IOException)
        {
            // The call has ended: its status says why.
        }

        try
        {
            var isAnswered = await call.ResponseStream.MoveNext(stop);
            return !isAnswered || name != "corfu.log.v1.LogService/AppendMany" || Log.AppendManyResponse.Parser
                .ParseFrom(call.ResponseStream.Current).Items[0].Result.Error?.Reason != Denied;
        }
        catch (RpcException e)
        {
            return e.StatusCode is not (StatusCode.PermissionDenied or StatusCode.Unauthenticated)
                && e.Status.DebugException is not (HttpRequestException or IOException);
        }
    }

    private static byte[] RequestOf(string name)
    {
        if (!s_described.TryGetValue(name, out var method)) return [];
        var request = (IMessage)Activator.CreateInstance(method.InputType.ClrType)!;
        if (method.InputType.FindFieldByName("object") is { } named) named.Accessor.SetValue(request, "x");
        switch (request)
        {
            case Log.AppendRequest append:
                append.Entry = new Log.NewEntry { StreamNames = { "x" } };
                break;
            case Log.AppendManyRequest appends:
                appends.Items.Add(new Log.AppendManyRequest.Types.Item
                {
                    Entry = new Log.NewEntry { StreamNames = { "x" } },
                });
                break;
            case Log.CheckRequest check:
                check.StreamNames.Add("x");
                break;
            case V1.TransactRequest transact:
                transact.OnSuccess.Add(new V1.Operation { Object = "x", Set = new V1.SetOperation() });
                break;
        }

        return request.ToByteArray();
    }
}
