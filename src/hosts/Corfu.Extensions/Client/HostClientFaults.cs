using Microsoft.Extensions.Options;

namespace Corfu.Extensions;

/// <summary>The faults of a client's settings, all in one message.</summary>
internal static class HostClientFaults
{
    /// <param name="name">The client's key; null or empty: none.</param>
    /// <param name="connectionFault">Null: the connection string is good.</param>
    /// <param name="validate">Throws an <see cref="ArgumentException"/> that names all faults of the options.</param>
    public static ValidateOptionsResult Find(
        string? name, string? connectionFault, TimeSpan connectTimeout, Action validate)
    {
        List<string> faults = [];
        if (connectionFault is not null) faults.Add("ConnectionString: " + connectionFault);
        if (connectTimeout < TimeSpan.Zero) faults.Add("ConnectTimeout: it must not be negative.");
        try
        {
            validate();
        }
        catch (ArgumentException e)
        {
            faults.Add("Client: " + e.Message);
        }

        var prefix = string.IsNullOrEmpty(name) ? "" : $"Client '{name}': ";
        return faults.Count == 0
            ? ValidateOptionsResult.Success
            : ValidateOptionsResult.Fail(faults.Select(fault => prefix + fault));
    }
}
