using System.Text;
using Corfu.Grpc.Protocol.Log.V1;
using Google.Protobuf;
using Google.Rpc;
using Grpc.Core;
using Grpc.Health.V1;
using Grpc.Reflection.V1Alpha;
using Tango.Testing;
using Outcome = Corfu.Grpc.Protocol.Log.V1.Outcome;

namespace Corfu.Grpc.Tests;

/// <summary>Parts of every service of the front end: errors with details, health, reflection.</summary>
public sealed class FrameTests
{
    [Fact]
    public async Task An_entry_is_appended_and_read()
    {
        await using var frontEnd = await FrontEnd.StartAsync(new InMemoryCorfuLog());
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        var request = new AppendRequest
        {
            Entry = new NewEntry { Payload = ByteString.CopyFromUtf8("x"), StreamNames = { "a" } },
        };
        var appended = (await log.AppendAsync(request)).Result;
        Assert.Equal(Outcome.Appended, appended.Outcome);
        var read = log.Read(new ReadRequest { Offsets = { appended.Position.Offset } });
        Assert.True(await read.ResponseStream.MoveNext());
        var result = Assert.Single(read.ResponseStream.Current.Results);
        Assert.Equal("x", Encoding.UTF8.GetString(result.Entry.Payload.Span));
        Assert.Equal(appended.Origin, result.Entry.Origin);
        Assert.False(await read.ResponseStream.MoveNext());
    }

    [Fact]
    public async Task Error_carries_a_reason()
    {
        await using var frontEnd = await FrontEnd.StartAsync(new InMemoryCorfuLog());
        var log = new LogService.LogServiceClient(frontEnd.Channel);
        var refused = await Assert.ThrowsAsync<RpcException>(
            async () => await log.AppendAsync(new AppendRequest { Entry = new NewEntry { StreamIds = { 300 } } }));
        Assert.Equal(StatusCode.InvalidArgument, refused.StatusCode);
        var info = refused.GetRpcStatus()!.GetDetail<ErrorInfo>();
        Assert.Equal(("corfu", "STREAM_RANGE", "300"), (info.Domain, info.Reason, info.Metadata["stream"]));
    }

    [Fact]
    public async Task The_health_service_knows_the_services_by_name()
    {
        await using var frontEnd = await FrontEnd.StartAsync(new InMemoryCorfuLog());
        var health = new Health.HealthClient(frontEnd.Channel);
        foreach (var service in new[] { "", "corfu.log.v1.LogService" })
        {
            var answer = await health.CheckAsync(new HealthCheckRequest { Service = service });
            Assert.Equal(HealthCheckResponse.Types.ServingStatus.Serving, answer.Status);
        }

        var unknown = await Assert.ThrowsAsync<RpcException>(
            async () => await health.CheckAsync(new HealthCheckRequest { Service = "corfu.none" }));
        Assert.Equal(StatusCode.NotFound, unknown.StatusCode);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Services_describe_themselves_unless_reflection_is_off(bool reflection)
    {
        await using var frontEnd = await FrontEnd.StartAsync(
            new InMemoryCorfuLog(), options => options.Reflection = reflection);
        var call = new ServerReflection.ServerReflectionClient(frontEnd.Channel).ServerReflectionInfo();
        if (!reflection)
        {
            // The refusal may come before the question is written.
            var refused = await Assert.ThrowsAsync<RpcException>(AskAsync);
            Assert.Equal(StatusCode.Unimplemented, refused.StatusCode);
            return;
        }

        Assert.True(await AskAsync());
        var names = call.ResponseStream.Current.ListServicesResponse.Service.Select(service => service.Name);
        Assert.Contains("corfu.log.v1.LogService", names);
        Assert.Contains("grpc.health.v1.Health", names);
        await call.RequestStream.CompleteAsync();

        async Task<bool> AskAsync()
        {
            await call.RequestStream.WriteAsync(new ServerReflectionRequest { ListServices = "" });
            return await call.ResponseStream.MoveNext(CancellationToken.None);
        }
    }
}
