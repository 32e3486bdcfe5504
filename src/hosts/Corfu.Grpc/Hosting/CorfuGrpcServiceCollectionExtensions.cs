using Corfu.Extensions;
using Corfu.Grpc;
using Corfu.Grpc.Protocol.Log.V1;
using Grpc.AspNetCore.HealthChecks;
using Grpc.AspNetCore.Server;
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authorization;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Options;
using AdminV1 = Corfu.Grpc.Protocol.Admin.V1;
using TangoV1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>The gRPC front end in a host.</summary>
public static class CorfuGrpcServiceCollectionExtensions
{
    // In the standard health service. All of them need the cluster and nothing else.
    private static readonly string[] ServiceNames =
    [
        LogService.Descriptor.FullName, AdminV1.AdminService.Descriptor.FullName,
        TangoV1.ObjectService.Descriptor.FullName, TangoV1.DictionaryService.Descriptor.FullName,
        TangoV1.SessionService.Descriptor.FullName, TangoV1.LockService.Descriptor.FullName,
        TangoV1.QueueService.Descriptor.FullName, TangoV1.LeasedDictionaryService.Descriptor.FullName,
        TangoV1.TransactionService.Descriptor.FullName,
    ];

    /// <summary>Registers the services that <c>app.MapCorfu()</c> serves, over the client of
    /// <see cref="CorfuClientServiceCollectionExtensions.AddCorfuClient(IServiceCollection,
    /// Action{CorfuClientSettings})"/>. Options are validated before the host starts, all faults in one message. Called
    /// again, it changes the options.</summary>
    public static IServiceCollection AddCorfuGrpc(
        this IServiceCollection services, Action<CorfuGrpcOptions>? configure = null)
    {
        var options = services.AddOptionsWithValidateOnStart<CorfuGrpcOptions>();
        if (configure is not null) options.Configure(configure);
        if (services.Any(added => added.ServiceType == typeof(TailWatcher))) return services;
        services.TryAddEnumerable(
            ServiceDescriptor.Singleton<IValidateOptions<CorfuGrpcOptions>, CorfuGrpcOptionsValidator>());
        services.TryAddSingleton(TimeProvider.System);
        services.TryAddSingleton<ILogSource>(
            static provider => new ClientLogSource(provider.GetRequiredService<ICorfuConnection>()));
        services.AddSingleton<TailWatcher>();
        services.AddSingleton<CallerLimits>();
        services.AddSingleton<CallGate>();
        services.AddSingleton<AccessFile>();
        services.AddSingleton<CallerAccess>();
        services.AddAuthorization();
        services.AddSingleton<IPostConfigureOptions<AuthorizationOptions>, DefaultPolicies>();
        services.AddSingleton<IAuthorizationHandler, AccessHandler>();
        services.AddSingleton<StreamClaims>();
        services.TryAddSingleton<ErrorInterceptor>();
        services.TryAddSingleton<AccessInterceptor>();
        services.AddGrpcReflection();
        services.AddCorfuGrpcService<LogEndpoint>();
        TangoServices.Add(services);
        AdminServices.Add(services);
        services.AddGrpcHealthChecks(health =>
        {
            foreach (var name in ServiceNames) health.Services.Map(name, IsReady);
        });
        return services;
    }

    /// <summary>Adds the scheme <see cref="CorfuClaims.Scheme"/>: callers are the holders of the certificates that
    /// their connections' handshakes have checked, at listeners with <c>UseCorfuHttps</c>.</summary>
    public static AuthenticationBuilder AddCorfuCertificates(this AuthenticationBuilder authentication)
    {
        ArgumentNullException.ThrowIfNull(authentication);
        return authentication.AddScheme<AuthenticationSchemeOptions, CertificateScheme>(
            CorfuClaims.Scheme, static _ => { });
    }

    /// <summary>A service with the front end's errors and message limits. Services of the host itself keep their
    /// own.</summary>
    internal static void AddCorfuGrpcService<T>(this IServiceCollection services)
        where T : class
    {
        services.AddSingleton<T>();
        services.AddGrpc().AddServiceOptions<T>(static _ => { });
        services.AddOptions<GrpcServiceOptions<T>>().Configure<IOptions<CorfuGrpcOptions>>((grpc, own) =>
        {
            grpc.MaxReceiveMessageSize = own.Value.MaxReceiveMessage;
            grpc.Interceptors.Add<ErrorInterceptor>();
            grpc.Interceptors.Add<AccessInterceptor>();
        });
    }

    /// <summary>The checks that say whether a service can do its work.</summary>
    internal static bool IsReady(HealthCheckMapContext check) => check.Tags.Contains("ready");
}
