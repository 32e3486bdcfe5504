using Corfu.Extensions;
using Corfu.Orleans.Hosting;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;
using Orleans.Configuration;

namespace Corfu.Orleans;

/// <summary>Options that all Corfu providers of a silo or a client share: one runtime and the names of its
/// objects.</summary>
public sealed class CorfuOrleansOptions
{
    internal const int MaxPrefixLength = 64;

    // Leaves room for the provider's name and the fixed parts: names of objects have at most 512 characters.
    internal const int MaxIdLength = 192;

    internal static readonly OptionRules<CorfuOrleansOptions> Rules = new OptionRules<CorfuOrleansOptions>(new())
        .Must(o => o.ObjectPrefix,
            o => !string.IsNullOrEmpty(o.ObjectPrefix) && o.ObjectPrefix.Length <= MaxPrefixLength,
            $"1 to {MaxPrefixLength} characters")
        .Between(o => o.ConnectTimeout, TimeSpan.Zero, TimeSpan.FromDays(1));

    /// <summary>The key of the <see cref="ITangoHost"/> whose runtime the providers use. Null: the host's default
    /// one.</summary>
    public string? TangoKey { get; set; }

    /// <summary>First part of the names of all objects. Applications that share a log and have the same cluster and
    /// service ids need different ones. At most 64 characters. Default <c>orleans</c>.</summary>
    public string ObjectPrefix { get; set; } = "orleans";

    /// <summary>How long the start of a silo or a client waits for the log. Default 30 seconds; at most a
    /// day.</summary>
    public TimeSpan ConnectTimeout { get; set; } = TimeSpan.FromSeconds(30);
}

/// <summary>All faults in one message, those of the providers' own connection among them.</summary>
internal sealed class CorfuOrleansOptionsValidator(
    IOptions<ClusterOptions> cluster, IServiceProviderIsKeyedService services,
    IOptionsMonitor<CorfuClientSettings> client)
    : IValidateOptions<CorfuOrleansOptions>
{
    public ValidateOptionsResult Validate(string? name, CorfuOrleansOptions options)
    {
        var faults = CorfuOrleansOptions.Rules.FaultsOf(options).ToList();
        var isThere = options.TangoKey is { } key
            ? services.IsKeyedService(typeof(ITangoHost), key)
            : services.IsService(typeof(ITangoHost));
        if (!isThere)
        {
            faults.Add("The Corfu providers have no log: pass a connection string to UseCorfu or UseCorfuClustering, "
                + "or call AddCorfuClient and AddTango on the host's services"
                + (options.TangoKey is { } missing ? $" (with the key '{missing}')." : "."));
        }

        if (options.TangoKey == CorfuOrleansServices.OwnKey) CheckConnection(CorfuOrleansServices.OwnKey);
        CheckId("ClusterId", cluster.Value.ClusterId);
        CheckId("ServiceId", cluster.Value.ServiceId);
        return faults.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(faults);

        void CheckConnection(string key)
        {
            try
            {
                client.Get(key);
            }
            catch (OptionsValidationException e)
            {
                faults.AddRange(e.Failures);
            }
        }

        void CheckId(string what, string? id)
        {
            if (id is not null && ObjectNames.Escape(id).Length > CorfuOrleansOptions.MaxIdLength)
            {
                faults.Add($"ClusterOptions.{what}: as part of an object's name it must have at most "
                    + $"{CorfuOrleansOptions.MaxIdLength} characters.");
            }
        }
    }
}
