using System.Text.Encodings.Web;
using System.Text.Json;
using System.Text.Json.Serialization;
using Grpc.Core;
using Microsoft.AspNetCore.Http;

namespace Corfu.Etcd.Gateway;

/// <summary>Errors as etcd's gateway tells them.</summary>
internal static class GatewayErrors
{
    public static int ToHttp(StatusCode code) => code switch
    {
        StatusCode.OK => StatusCodes.Status200OK,
        StatusCode.Cancelled => StatusCodes.Status408RequestTimeout,
        StatusCode.InvalidArgument or StatusCode.OutOfRange => StatusCodes.Status400BadRequest,
        StatusCode.DeadlineExceeded => StatusCodes.Status504GatewayTimeout,
        StatusCode.NotFound => StatusCodes.Status404NotFound,
        StatusCode.AlreadyExists or StatusCode.Aborted => StatusCodes.Status409Conflict,
        StatusCode.PermissionDenied => StatusCodes.Status403Forbidden,
        StatusCode.Unauthenticated => StatusCodes.Status401Unauthorized,
        StatusCode.ResourceExhausted => StatusCodes.Status429TooManyRequests,
        StatusCode.Unavailable => StatusCodes.Status503ServiceUnavailable,
        StatusCode.FailedPrecondition => StatusCodes.Status412PreconditionFailed,
        StatusCode.Unimplemented => StatusCodes.Status501NotImplemented,
        _ => StatusCodes.Status500InternalServerError,
    };

    public static string ToText(Status status) => JsonSerializer.Serialize(
        new GatewayError(status.Detail, status.Detail, (int)status.StatusCode), GatewayJson.Readable.GatewayError);

    /// <summary>Ends a request before its call, in gRPC or in JSON as it came.</summary>
    public static Task RefuseAsync(HttpContext context, Status status)
    {
        if (context.Request.ContentType?.StartsWith("application/grpc", StringComparison.Ordinal) == true)
        {
            context.Response.ContentType = "application/grpc";
            context.Response.Headers["grpc-status"] = $"{(int)status.StatusCode}";
            context.Response.Headers["grpc-message"] = status.Detail;
            return Task.CompletedTask;
        }

        context.Response.StatusCode = ToHttp(status.StatusCode);
        context.Response.ContentType = "application/json";
        return context.Response.WriteAsync(ToText(status), context.RequestAborted);
    }

    /// <summary>The last line of a stream.</summary>
    public static string ToLine(Status status)
    {
        var code = ToHttp(status.StatusCode);
        var error = new StreamError((int)status.StatusCode, code, status.Detail, ReasonOf(code));
        return JsonSerializer.Serialize(new StreamEnd(error), GatewayJson.Readable.StreamEnd);
    }

    private static string ReasonOf(int code) => Microsoft.AspNetCore.WebUtilities.ReasonPhrases.GetReasonPhrase(code);
}

internal sealed record GatewayError(string Error, string Message, int Code);

internal sealed record StreamEnd(StreamError Error);

internal sealed record StreamError(int GrpcCode, int HttpCode, string Message, string HttpStatus);

[JsonSerializable(typeof(GatewayError))]
[JsonSerializable(typeof(StreamEnd))]
internal sealed partial class GatewayJson : JsonSerializerContext
{
    /// <summary>Texts have quotation marks as they are: no page shows them.</summary>
    public static GatewayJson Readable { get; } = new(new JsonSerializerOptions
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping,
    });
}
