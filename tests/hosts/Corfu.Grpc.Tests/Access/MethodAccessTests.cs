using System.Runtime.CompilerServices;
using Corfu.Grpc.Protocol.V1;
using Corfu.Protocol;
using global::Grpc.Core;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using Log = Corfu.Grpc.Protocol.Log.V1;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc.Tests.Access;

/// <summary>The table of methods: it is whole, and every role gets what it says.</summary>
public sealed class MethodAccessTests
{
    private static readonly MethodDescriptor[] s_methods =
    [
        .. new[] { typeof(TypesReflection), typeof(global::Grpc.Health.V1.HealthReflection) }
            .SelectMany(static type => type.Assembly.GetTypes())
            .Concat(
            [
                typeof(global::Grpc.Reflection.V1Alpha.ReflectionReflection),
                typeof(global::Grpc.Reflection.V1.ReflectionReflection),
            ])
            .Select(static type => type.GetProperty("Descriptor")?.GetValue(null)).OfType<FileDescriptor>().Distinct()
            .SelectMany(static file => file.Services).SelectMany(static service => service.Methods),
    ];

    private static readonly Marshaller<byte[]> s_bytes = new(static bytes => bytes, static bytes => bytes);

    [Fact]
    public void Every_method_of_every_service_has_a_row_and_every_row_a_method() => Assert.Equal(
        s_methods.Select(NameOf).Order(StringComparer.Ordinal),
        MethodAccess.Rows.Select(static row => row.Method).Order(StringComparer.Ordinal));

    [Fact]
    public void Documentation_has_the_rows()
    {
        var page = File.ReadAllLines(Path.Combine(RepositoryRoot(), "docs", "grpc.md"));
        Assert.Equal(
            MethodAccess.Rows.Select(static row => $"| `{row.Method}` | {row.Needs} |"),
            page.Where(static line => line.StartsWith("| `corfu.", StringComparison.Ordinal)
                || line.StartsWith("| `grpc.", StringComparison.Ordinal)));
    }

    [Fact]
    public async Task Method_of_the_front_end_is_open_to_the_roles_of_the_row_alone()
    {
        await using var frontEnd = await SecureFrontEnd.StartAsync();
        (string Role, Caller Caller)[] callers =
        [
            ("nobody", frontEnd.AsNobody()), ("caller", frontEnd.As(AccessRole.Caller, "x")),
            ("client", frontEnd.As(AccessRole.Client, "x")), ("admin", frontEnd.As(AccessRole.Admin, "x")),
            ("node", frontEnd.As(AccessRole.Node, "x")),
        ];
        List<string> differing = [];
        foreach (var method in s_methods)
        {
            foreach (var (role, caller) in callers)
            {
                var expected = ExpectedOf(MethodAccess.Of(NameOf(method)).Policy, role);
                var refusal = await RefusalOf(caller, method);
                if (refusal != expected) differing.Add($"{NameOf(method)} {role}: '{refusal}', not '{expected}'");
            }
        }

        Assert.Empty(differing);
    }

    private static string ExpectedOf(string? policy, string role) => (role, policy) switch
    {
        (_, null) => "",
        ("nobody", _) => "Unauthenticated",
        ("caller", CorfuPolicies.Caller) => "",
        ("caller", _) => "DENIED",
        ("client", CorfuPolicies.Trim or CorfuPolicies.ClusterChange) => "DENIED",
        _ => "",
    };

    private static async Task<string> RefusalOf(Caller caller, MethodDescriptor method)
    {
        var kind = (method.IsClientStreaming, method.IsServerStreaming) switch
        {
            (false, false) => MethodType.Unary,
            (false, true) => MethodType.ServerStreaming,
            (true, false) => MethodType.ClientStreaming,
            (true, true) => MethodType.DuplexStreaming,
        };
        var raw = new Method<byte[], byte[]>(kind, method.Service.FullName, method.Name, s_bytes, s_bytes);
        var request = RequestOf(method).ToByteArray();
        var deadline = new CallOptions(deadline: DateTime.UtcNow.AddSeconds(10));
        return kind switch
        {
            MethodType.Unary => await Caller.RefusalOf(
                async () => await caller.Invoker.AsyncUnaryCall(raw, null, deadline, request)),
            MethodType.ServerStreaming => await Caller.RefusalOf(async () =>
            {
                using var call = caller.Invoker.AsyncServerStreamingCall(raw, null, deadline, request);
                await call.ResponseStream.MoveNext();
            }),
            _ => await RefusalOfStream(caller, raw, deadline, request),
        };
    }

    private static async Task<string> RefusalOfStream(
        Caller caller, Method<byte[], byte[]> method, CallOptions options, byte[] request)
    {
        var refusedEntry = "";
        var refused = await Caller.RefusalOf(async () =>
        {
            using var call = caller.Invoker.AsyncDuplexStreamingCall(method, null, options);
            // A call that is refused may have ended by now: its status says so, not the write.
            await Caller.RefusalOf(() => call.RequestStream.WriteAsync(request));
            if (!await call.ResponseStream.MoveNext() || method.Name != "AppendMany") return;
            var response = Log.AppendManyResponse.Parser.ParseFrom(call.ResponseStream.Current);
            refusedEntry = response.Items[0].Result.Error?.Reason ?? "";
        });
        return refused.Length > 0 ? refused : refusedEntry;
    }

    // A request that needs the row's right, and makes sense as far as that.
    private static IMessage RequestOf(MethodDescriptor method)
    {
        var request = (IMessage)Activator.CreateInstance(method.InputType.ClrType)!;
        if (method.InputType.FindFieldByName("object") is { } name) name.Accessor.SetValue(request, "x");
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

        return request;
    }

    private static string RepositoryRoot([CallerFilePath] string file = "") =>
        Path.GetFullPath(Path.Combine(Path.GetDirectoryName(file)!, "../../../.."));

    private static string NameOf(MethodDescriptor method) => $"{method.Service.FullName}/{method.Name}";
}
