using System.Globalization;
using System.Net;
using System.Net.Http.Json;

namespace Corfu.Newcomer;

/// <summary>The tutorial's service, as its users call it. Items and orders have new names each time: the log may hold
/// those of earlier runs.</summary>
internal static class ServiceCalls
{
    public static async Task<List<string>> RunAsync(Uri url)
    {
        var faults = new List<string>();
        using var http = new HttpClient { BaseAddress = url, Timeout = TimeSpan.FromSeconds(30) };
        var item = $"tea-{Guid.NewGuid():n}";

        await Expect("live", http.GetAsync("/health/live"), HttpStatusCode.OK);
        await Expect("ready", http.GetAsync("/health/ready"), HttpStatusCode.OK);
        await Expect("put", http.PostAsync($"/stock/{item}?count=5", null), HttpStatusCode.NoContent);
        await Expect("order", Order("a", 3), HttpStatusCode.Created);
        await Expect("the same order", Order("a", 1), HttpStatusCode.Conflict);
        await Expect("an order of too much", Order("b", 3), HttpStatusCode.Conflict);
        var left = await http.GetStringAsync($"/stock/{item}");
        if (left != 2.ToString(CultureInfo.InvariantCulture)) faults.Add($"{left} are left, not 2.");
        return faults;

        Task<HttpResponseMessage> Order(string number, int count) =>
            http.PutAsJsonAsync($"/orders/{item}-{number}", new { item, count });

        async Task Expect(string what, Task<HttpResponseMessage> call, HttpStatusCode expected)
        {
            using var response = await call;
            if (response.StatusCode == expected) return;
            var body = await response.Content.ReadAsStringAsync();
            faults.Add($"{what}: {response.StatusCode}, not {expected}: {body}");
        }
    }
}
