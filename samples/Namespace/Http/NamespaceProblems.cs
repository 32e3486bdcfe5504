using Corfu;
using Corfu.Protocol;
using Microsoft.AspNetCore.Diagnostics;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Mvc;
using NamespaceSample.Model;
using Tango;

namespace NamespaceSample.Http;

/// <summary>Failures as problem details.</summary>
internal sealed class NamespaceProblems(IProblemDetailsService problems) : IExceptionHandler
{
    public ValueTask<bool> TryHandleAsync(
        HttpContext httpContext, Exception exception, CancellationToken cancellationToken)
    {
        if (Problem(exception) is not { } problem) return ValueTask.FromResult(false);
        httpContext.Response.StatusCode = problem.Status!.Value;
        return problems.TryWriteAsync(new ProblemDetailsContext
        {
            HttpContext = httpContext,
            ProblemDetails = problem,
            Exception = exception,
        });
    }

    private static ProblemDetails? Problem(Exception exception) => exception switch
    {
        NamespaceException refused => new ProblemDetails
        {
            Status = refused.Error switch
            {
                NamespaceError.NotFound => StatusCodes.Status404NotFound,
                NamespaceError.BadPath or NamespaceError.BadSize => StatusCodes.Status400BadRequest,
                _ => StatusCodes.Status409Conflict,
            },
            Title = refused.Error.ToString(),
            Detail = refused.Message,
        },
        TangoInDoubtException doubt => new ProblemDetails
        {
            Status = StatusCodes.Status504GatewayTimeout,
            Title = "InDoubt",
            Detail = $"The change may have taken effect. {doubt.Message}",
        },
        CorfuException or TangoException => new ProblemDetails
        {
            Status = StatusCodes.Status503ServiceUnavailable,
            Title = "Unavailable",
            Detail = exception.Message,
        },
        _ => null,
    };
}
