using System.Globalization;
using Google.Protobuf;
using Grpc.AspNetCore.Server;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;

namespace Corfu.Grpc;

/// <summary>Counts the calls of each caller before their requests are read: a request that waits to be decoded takes
/// memory already.</summary>
internal sealed class CallGate(CallerLimits limits)
{
    // Each has a limit of its own, and lasts as long as its caller likes.
    private static readonly string[] s_long =
        ["LogService/Subscribe", "DictionaryService/Watch", "SessionService/Keep"];

    /// <summary>Stands before each method of the services.</summary>
    public void Guard(IEndpointConventionBuilder services) => services.Finally(endpoint =>
    {
        if (endpoint.RequestDelegate is not { } serve) return;
        var isLong = endpoint.Metadata.OfType<GrpcMethodMetadata>()
            .Any(static method => s_long.Any(name => method.Method.FullName.EndsWith(name, StringComparison.Ordinal)));
        endpoint.RequestDelegate = http => RunAsync(http, serve, isLong);
    });

    private async Task RunAsync(HttpContext http, RequestDelegate serve, bool isLong)
    {
        IDisposable? place = null;
        var caller = Callers.NameOf(http);
        try
        {
            limits.AdmitCall(caller);
            if (!isLong) place = limits.Calls.Take(caller);
        }
        catch (FrontEndLimitException e)
        {
            Refuse(http.Response, e);
            return;
        }

        var body = new IncomingBody(http, http.Request.BodyReader, caller, limits);
        http.Features.Set<IRequestBodyPipeFeature>(body);
        try
        {
            await serve(http);
        }
        finally
        {
            body.GiveBack();
            place?.Dispose();
        }
    }

    // A response without messages: its headers are its trailers.
    private static void Refuse(HttpResponse response, Exception e)
    {
        var status = ErrorTable.ToStatus(e);
        response.StatusCode = StatusCodes.Status200OK;
        response.ContentType = "application/grpc";
        response.Headers["grpc-status"] = status.Code.ToString(CultureInfo.InvariantCulture);
        response.Headers["grpc-message"] = Uri.EscapeDataString(status.Message);
        response.Headers["grpc-status-details-bin"] = Convert.ToBase64String(status.ToByteArray());
    }
}
