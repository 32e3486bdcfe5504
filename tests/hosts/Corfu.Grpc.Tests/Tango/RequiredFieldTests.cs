using Corfu.Grpc.Protocol.Tango.V1;
using Google.Api;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using global::Grpc.Core;

namespace Corfu.Grpc.Tests.Tango;

public sealed class RequiredFieldTests
{
    [Fact]
    public async Task Request_is_refused_exactly_if_a_required_field_is_missing()
    {
        await using var front = new Front();
        var own = await front.StartAsync();
        var refused = 0;
        foreach (var method in MethodsOf(
            ObjectsReflection.Descriptor, DictionariesReflection.Descriptor, LocksReflection.Descriptor,
            QueuesReflection.Descriptor, LeasedDictionariesReflection.Descriptor, TransactionsReflection.Descriptor))
        {
            var isRefused = await IsRefusedAsync(own, method);
            Assert.True(isRefused == HasRequired(method.InputType) || NeedsOneOfSeveral(method), method.FullName);
            if (isRefused) refused++;
        }

        // All but the list of objects.
        Assert.Equal(22, refused);
    }

    private static IEnumerable<MethodDescriptor> MethodsOf(params FileDescriptor[] files) => files
        .SelectMany(static file => file.Services).SelectMany(static service => service.Methods)
        .Where(static method => !method.IsClientStreaming && !method.IsServerStreaming);

    private static bool HasRequired(MessageDescriptor message) => message.Fields.InDeclarationOrder().Any(
        static field => field.GetOptions()?.GetExtension(FieldBehaviorExtensions.FieldBehavior)
            ?.Contains(FieldBehavior.Required) == true);

    // A comparison or an operation: no single field is required.
    private static bool NeedsOneOfSeveral(MethodDescriptor method) =>
        method.InputType == TransactRequest.Descriptor;

    private static async Task<bool> IsRefusedAsync(TangoFrontEnd own, MethodDescriptor method)
    {
        var call = new Method<IMessage, IMessage>(
            MethodType.Unary, method.Service.FullName, method.Name, Through(method.InputType.Parser),
            Through(method.OutputType.Parser));
        try
        {
            await own.Invoker.AsyncUnaryCall(call, null, new CallOptions(), method.InputType.Parser.ParseFrom([]));
            return false;
        }
        catch (RpcException e)
        {
            Assert.Equal((StatusCode.InvalidArgument, "INVALID_REQUEST"), TangoFrontEnd.ReasonOf(e));
            return true;
        }
    }

    private static Marshaller<IMessage> Through(MessageParser parser) =>
        new(static message => message.ToByteArray(), bytes => parser.ParseFrom(bytes));
}
